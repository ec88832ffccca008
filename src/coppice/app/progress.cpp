#include "coppice/app/progress.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "coppice/run/diagnostics.hpp"

namespace coppice::app {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

/// What all kinds of progress know: how far the chains are, how fast, and whether they agree so far.
class ProgressBase : public FitObserver {
 public:
  ProgressBase(const ProgressOptions& options, double interval)
      : interval_(interval),
        runs_once_(options.runs_once),
        budget_(options.budget),
        log_joint_(options.chains) {}

  void on_draws(std::size_t chain, std::size_t first, std::size_t count,
                std::span<const double> traces) override {
    // Diagnostics of the run so far rest on at most this many draws of a chain: they are for the eye.
    constexpr std::size_t kMost = 4000;
    const std::size_t width = count == 0 ? 1 : traces.size() / count;
    std::vector<double>& values = log_joint_[chain];
    for (std::size_t draw = 0; draw < count && values.size() < kMost; ++draw)
      if (first + draw >= values.size()) values.push_back(traces[draw * width]);
  }

  void on_decision(const LengthDecision& decision, std::span<const std::string> names) override {
    for (std::vector<double>& values : log_joint_) values.clear();
    rhat_ = decision.convergence.worst_rhat;
    worst_trace_ = names[decision.convergence.rhat_trace];
    effective_ = decision.convergence.least_ess;
    if (!decision.is_end || !shown_) return;
    state_.last = true;
    state_.rhat = rhat_;
    show(state_);
  }

  void on_progress(std::span<const ChainProgress> chains, std::size_t total) override {
    const Clock::time_point now = Clock::now();
    std::size_t done = 0;
    for (const ChainProgress& chain : chains) done += chain.sweeps;
    if (!started_) {
      started_ = true;
      begin_ = now;
      done_at_begin_ = done;
    }
    const bool last = total != 0 && done >= total * chains.size();
    const double elapsed = seconds_between(begin_, now);
    const double rate = elapsed > 0.0 ? static_cast<double>(done - done_at_begin_) / elapsed : 0.0;
    const double left = total == 0   ? std::max(budget_ - elapsed, 0.0)
                        : rate > 0.0 ? static_cast<double>(total * chains.size() - done) / rate
                                     : 0.0;
    State state{done,
                total * chains.size(),
                rate,
                left,
                0.0,
                0.0,
                0.0,
                total == 0 ? rhat_ : running_rhat(now, last),
                chains.empty() ? kMissing : chains.front().held_out,
                last};
    double started = 0.0;
    for (const ChainProgress& chain : chains) {
      if (chain.clusters == 0.0) continue;  // has not begun
      state.fewest = started == 0.0 ? chain.clusters : std::min(state.fewest, chain.clusters);
      state.most = std::max(state.most, chain.clusters);
      state.log_joint += chain.log_joint;
      started += 1.0;
    }
    if (started > 0.0) state.log_joint /= started;
    state_ = state;
    if (!last && shown_ && seconds_between(last_shown_, now) < interval_) return;
    shown_ = true;
    last_shown_ = now;
    show(state);
  }

 protected:
  struct State {
    std::size_t done = 0, total = 0;  // total 0: until the run can be trusted
    double rate = 0.0, left = 0.0, fewest = 0.0, most = 0.0, log_joint = 0.0, rhat = 0.0, held_out = 0.0;
    bool last = false;

    bool is_open() const { return total == 0; }
  };
  virtual void show(const State& state) = 0;

  std::string words(const State& state) const {
    const char* unit = runs_once_ ? "steps" : "sweeps";
    std::string text = state.is_open() ? fmt::format("{} {}", state.done, unit)
                                       : fmt::format("{}/{} {}", state.done, state.total, unit);
    if (state.rate > 0.0) text += fmt::format(", {:.0f}/s", state.rate);
    if (state.last)
      text += ", done";
    else if (state.rate > 0.0)
      text += fmt::format(", {} left{}", duration_words(state.left), state.is_open() ? " at most" : "");
    text += state.fewest == state.most
                ? fmt::format(", {:.0f} cluster{}", state.most, state.most == 1.0 ? "" : "s")
                : fmt::format(", {:.0f}-{:.0f} clusters", state.fewest, state.most);
    text += fmt::format(", {} {:.1f}", runs_once_ ? "lower bound" : "log joint", state.log_joint);
    if (std::isfinite(state.held_out)) text += fmt::format(", held out {:.2f} per row", state.held_out);
    if (std::isfinite(state.rhat)) text += fmt::format(", R-hat {:.3f}", state.rhat);
    if (state.is_open() && std::isfinite(state.rhat))
      text += fmt::format(" ({}), {:.0f} effective draws", worst_trace_, effective_);
    return text;
  }
  /// The part of the work, or of the time, that is done.
  double done_share(const State& state) const {
    if (state.last) return 1.0;
    if (!state.is_open()) return static_cast<double>(state.done) / static_cast<double>(state.total);
    return budget_ > 0.0 ? 1.0 - state.left / budget_ : 0.0;
  }
  double effective_draws() const { return effective_; }
  const std::string& worst_trace() const { return worst_trace_; }

 private:
  double running_rhat(Clock::time_point now, bool last) {
    if (!last && seconds_between(last_rhat_, now) < 1.0) return rhat_;
    last_rhat_ = now;
    std::size_t length = static_cast<std::size_t>(-1);
    for (const auto& chain : log_joint_) length = std::min(length, chain.size());
    if (log_joint_.size() < 2 || length < 20) return rhat_;
    std::vector<std::vector<double>> chains;
    for (const auto& chain : log_joint_)
      chains.emplace_back(chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(length));
    return rhat_ = rhat(chains);
  }

  double interval_;
  bool runs_once_;
  double budget_;
  std::vector<std::vector<double>> log_joint_;
  bool started_ = false;
  bool shown_ = false;
  Clock::time_point begin_, last_shown_, last_rhat_;
  std::size_t done_at_begin_ = 0;
  double rhat_ = std::nan("");
  State state_;              // as shown last
  std::string worst_trace_;  // of the last decision, and the effective draws it found
  double effective_ = 0.0;
};

class BarProgress final : public ProgressBase {
 public:
  explicit BarProgress(const ProgressOptions& options) : ProgressBase(options, 0.1) {}
  ~BarProgress() override {
    if (drawn_ && !ended_) std::fputc('\n', stderr);
  }

 private:
  void show(const State& state) override {
    constexpr std::size_t kWidth = 24;
    const double share = done_share(state);
    const auto filled = static_cast<std::size_t>(static_cast<double>(kWidth) * share);
    std::string bar;
    for (std::size_t i = 0; i < kWidth; ++i) bar += i < filled ? "█" : "░";
    write_error_stream(fmt::format("\r\033[K{} {:3.0f} %  {}", bar, 100.0 * share, words(state)));
    drawn_ = true;
    if (state.last && !ended_) {
      std::fputc('\n', stderr);
      ended_ = true;
    }
    std::fflush(stderr);
  }
  bool drawn_ = false;
  bool ended_ = false;
};

class PlainProgress final : public ProgressBase {
 public:
  explicit PlainProgress(const ProgressOptions& options) : ProgressBase(options, 60.0) {}

 private:
  void show(const State& state) override { write_error_stream(words(state) + "\n"); }
};

class JsonProgress final : public ProgressBase {
 public:
  explicit JsonProgress(const ProgressOptions& options) : ProgressBase(options, 1.0) {}

 private:
  void show(const State& state) override {
    nlohmann::ordered_json line{{"sweeps", state.done},
                                {"total", state.total},
                                {"rate", state.rate},
                                {"seconds_left", state.left},
                                {"clusters", {state.fewest, state.most}},
                                {"log_joint", state.log_joint},
                                {"rhat", state.rhat}};
    if (state.is_open()) {
      line["total"] = nullptr;
      line["worst_trace"] = worst_trace();
      line["effective_draws"] = effective_draws();
    }
    if (std::isfinite(state.held_out)) line["held_out"] = state.held_out;
    write_error_stream(line.dump() + "\n");
    std::fflush(stderr);
  }
};

}  // namespace

std::unique_ptr<FitObserver> make_progress(const Context& context, const ProgressOptions& options) {
  std::string kind = context.progress;
  if (kind == "auto") kind = context.quiet ? "none" : context.stderr_is_terminal() ? "bar" : "plain";
  if (kind == "bar") return std::make_unique<BarProgress>(options);
  if (kind == "plain") return std::make_unique<PlainProgress>(options);
  if (kind == "json") return std::make_unique<JsonProgress>(options);
  return nullptr;
}

std::unique_ptr<FitObserver> make_progress(const Context& context, const Fit& fit) {
  return make_progress(
      context, {.chains = fit.config().chains, .runs_once = fit.model().runs_once(), .budget = fit.budget()});
}

std::string duration_words(double seconds) {
  if (seconds < 1.0) return fmt::format("{:.0f} ms", seconds * 1000.0);
  if (seconds < 100.0) return fmt::format("{:.{}f} s", seconds, seconds < 10.0 ? 1 : 0);
  const auto minutes = static_cast<std::int64_t>(seconds / 60.0);
  if (minutes < 100)
    return fmt::format("{} min {:.0f} s", minutes, seconds - 60.0 * static_cast<double>(minutes));
  return fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

std::string size_words(std::size_t bytes) {
  const double megabytes = static_cast<double>(bytes) / 1e6;
  if (megabytes < 1.0) return fmt::format("{:.0f} kB", 1000.0 * megabytes);
  return megabytes < 1000.0 ? fmt::format("{:.0f} MB", megabytes)
                            : fmt::format("{:.1f} GB", megabytes / 1000.0);
}

}  // namespace coppice::app
