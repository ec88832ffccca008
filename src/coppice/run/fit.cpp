#include "coppice/run/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>

#include "coppice/base/error.hpp"
#include "coppice/base/parallel.hpp"
#include "coppice/model/parameter_draws.hpp"
#include "coppice/model/registry.hpp"
#include "coppice/run/partition_draws.hpp"
#include "coppice/run/watch.hpp"

namespace coppice {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kLeastSecondsBetweenCommits = 0.5;
// Steps of a fit that runs once are reported so often.
constexpr double kSecondsOfABlock = 0.5;
// A large state is written the less often: this share of the time goes into it at most.
constexpr double kShareOfCommits = 0.05;
// Past a time limit that was asked for, a chain without a draw may still make its first one for so long.
constexpr double kSecondsToFirstDraw = 0.5;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// One chain: its inference, and the block of draws it is filling.
class Chain {
 public:
  Chain(const RunFile& file, const ProblemSetup& setup, const Problem& problem, const RunConfig& config,
        std::size_t index, const FitOptions& options)
      : config_(config),
        index_(index),
        rows_(setup.problem.table_rows()),
        levels_(setup.levels),
        traces_(setup.traces.size()),
        block_length_(sweeps_per_block(rows_)),
        runs_once_(setup.model->runs_once()),
        inference_(setup.model->make_inference(problem)),
        parameter_draws_(dynamic_cast<const ParameterDraws*>(inference_.get())),
        values_(traces_) {
    const std::string name = levels_ == 1 ? "clusters" : fmt::format("clusters_{}", levels_);
    clusters_trace_ = static_cast<std::size_t>(std::find(setup.traces.begin(), setup.traces.end(), name) -
                                               setup.traces.begin());
    // A chain by itself may use all threads; several have one each.
    inference_->use_threads(config.chains == 1 ? options.threads : 1);
    if (options.engine != nullptr) {
      auto* in_blocks = dynamic_cast<UsesEngine*>(inference_.get());
      if (in_blocks == nullptr)
        fail(ErrorCode::configuration,
             "several processes can work on one run of {}; start this one without mpirun",
             samplers_in_blocks());
      in_blocks->use_engine(*options.engine);
    }
    if (setup.model->has_held_out_trace())
      held_out_trace_ = static_cast<std::size_t>(
          std::find(setup.traces.begin(), setup.traces.end(), setup.model->held_out_trace) -
          setup.traces.begin());
    status_ = file.status(index);
    if (const auto checkpoint = file.checkpoint(index)) {
      inference_->load(checkpoint->state);
      sweep_ = checkpoint->sweep;
      started_ = true;
    }
  }

  /// May be asked from another thread.
  std::size_t sweep() const { return sweep_.load(std::memory_order_relaxed); }
  bool finished() const { return sweep_ >= config_.total_sweeps(); }
  bool has_begun() const { return started_; }
  /// Whether a fit that runs once has moved since its state was kept; an interrupted step leaves none to
  /// keep.
  bool has_unsaved_state() const { return runs_once_ && (!started_ || unsaved_); }

  /// Sweeps to the end of the block, of the run, or until `stop()`; a fit that runs once until progress is
  /// due.
  template <typename Stop>
  void run_block(Stop&& stop) {
    const Clock::time_point begin = Clock::now();
    unsaved_ = false;
    if (!started_) {
      inference_->init(name(0));
      started_ = true;
    }
    draws_ = {};
    draws_.chain = index_;
    draws_.block = sweep_ / block_length_;
    draws_.first = first_draw_after(sweep_);
    while (!finished() && !stop()) {
      if (!step()) break;
      if (runs_once_ && inference_->finished()) sweep_ = config_.total_sweeps();
      if (!runs_once_ && is_draw(sweep_)) keep();
      if (sweep_ % block_length_ == 0) break;
      // Steps of a fit that runs once may be long, and need no rebuilding: progress is reported in time.
      if (runs_once_ && seconds_since(begin) >= kSecondsOfABlock) break;
    }
    if (is_broken_off_) {
      status_.seconds += seconds_since(begin);
      return;
    }
    if (sweep_ % block_length_ == 0) inference_->rebuild();
    status_.sweeps = std::max(status_.sweeps, sweep());
    status_.seconds += seconds_since(begin);
    status_.moves = inference_->moves();
    inference_->traces(values_);
    unsaved_ = true;
  }

  /// The one draw of a fit that runs once is its present state: kept when it is to be written.
  void keep_state() {
    draws_ = {};
    draws_.chain = index_;
    keep();
    unsaved_ = false;
  }
  bool runs_once() const { return runs_once_; }
  /// A checkpoint is only possible where statistics were just rebuilt; a fit that runs once has nothing to
  /// rebuild.
  bool at_checkpoint() const { return runs_once_ || (!is_broken_off_ && sweep_ % block_length_ == 0); }
  Checkpoint checkpoint() const { return {index_, sweep_, inference_->save()}; }
  DrawBlock take_draws() { return std::move(draws_); }
  const ChainStatus& status() const { return status_; }
  ChainProgress progress() const {
    return {sweep_, values_[0], clusters_trace_ < traces_ ? values_[clusters_trace_] : 0.0,
            held_out_trace_ < traces_ ? values_[held_out_trace_] : kMissing};
  }

 private:
  /// One sweep; false if it was broken off. The state is then none to go on from, and what was drawn in the
  /// block before it is kept: resuming draws it again, the same.
  bool step() {
    try {
      inference_->step(name(sweep_ + 1));
    } catch (const Error& error) {
      if (runs_once_ || error.code() != ErrorCode::stopped) throw;
      is_broken_off_ = true;
      return false;
    }
    ++sweep_;
    return true;
  }
  StreamName name(std::size_t sweep) const { return {config_.seed, index_, sweep}; }
  bool is_draw(std::size_t sweep) const {
    return sweep > config_.warmup && (sweep - config_.warmup) % config_.thin == 0;
  }
  /// Index of the first draw kept after this sweep.
  std::size_t first_draw_after(std::size_t sweep) const {
    return sweep <= config_.warmup ? 0 : (sweep - config_.warmup) / config_.thin;
  }
  void keep() {
    ++draws_.count;
    draws_.traces.resize(draws_.count * traces_);
    inference_->traces({draws_.traces.data() + (draws_.count - 1) * traces_, traces_});
    if (parameter_draws_ != nullptr) {
      draws_.payload.push_back(parameter_draws_->parameters());
      return;
    }
    draws_.labels.resize(draws_.count * levels_ * rows_);
    draws_.payload.push_back(inference_->payload());
    inference_->labels({draws_.labels.data() + (draws_.count - 1) * levels_ * rows_, levels_ * rows_});
  }

  const RunConfig& config_;  // its length may grow between blocks
  std::size_t index_, rows_, levels_, traces_, block_length_;
  bool runs_once_;
  std::size_t clusters_trace_ = 0;
  std::size_t held_out_trace_ = static_cast<std::size_t>(-1);
  std::unique_ptr<Inference> inference_;
  const ParameterDraws* parameter_draws_;  // null: draws are kept with their labels
  std::atomic<std::size_t> sweep_ = 0;
  bool started_ = false;
  bool unsaved_ = false;
  bool is_broken_off_ = false;
  DrawBlock draws_;
  ChainStatus status_;
  std::vector<double> values_;
};

/// Hands blocks of sweeps to threads, always of the chain that is furthest behind, and writes what comes
/// back.
class Scheduler {
 public:
  Scheduler(RunFile& file, const ProblemSetup& setup, const FitOptions& options)
      : file_(file),
        setup_(setup),
        options_(options),
        config_(file.config()),
        problem_(setup.problem),
        asked_(setup.problem.stop),
        elapsed_before_(file.elapsed().value_or(0.0)),
        last_commit_(Clock::now()) {
    halt_ = is_asked_to_stop();
    problem_.stop = &halt_;
    if (config_.is_until_trusted()) {
      has_given_limit_ = options_.time_limit > 0.0;
      options_.time_limit = budget_of(options_);
      first_draw_ = config_.length().sweep_of(0);
      has_ended_ = config_.end == kEndTrusted;
      if (!has_ended_ && !config_.end.empty()) file_.set_end(config_.end = "");  // there is more time
    }
  }

  FitEnd run() {
    bool is_set_up = false;
    {
      const Watch watch(halt_, [this] { return is_time_to_halt(); });
      is_set_up = set_up_chains();
      if (is_set_up)
        parallel_for(std::min(resolve_threads(options_.threads), chains_.size()), options_.threads,
                     [this](std::size_t) { work(); });
    }
    if (!is_set_up) return interrupted() || is_asked_to_stop() ? FitEnd::interrupted : FitEnd::out_of_time;
    if (!interrupted()) halt_ = false;  // a fit that runs once still makes its first state
    if (failure_) {
      if (can_write_) write();  // what the other chains drew
      std::rethrow_exception(failure_);
    }
    // A fit that runs once has an answer from the start, however early it was stopped.
    for (std::size_t index = 0; index < chains_.size(); ++index) {
      if (!chains_[index]->has_unsaved_state()) continue;
      if (!chains_[index]->has_begun()) chains_[index]->run_block([] { return true; });
      collect(index, true);
    }
    write();
    if (config_.is_until_trusted() ? has_ended_ : all_finished()) return FitEnd::finished;
    if (interrupted()) return FitEnd::interrupted;
    if (!config_.is_until_trusted() || any_owes_draw()) return FitEnd::out_of_time;
    file_.set_end(options_.sketch ? kEndSketch : kEndBudget);
    return FitEnd::budget_used;
  }

 private:
  bool interrupted() const {
    return options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed);
  }
  /// By the flag that came with the problem, which may be another one than that of the options.
  bool is_asked_to_stop() const { return asked_ != nullptr && asked_->load(std::memory_order_relaxed); }
  bool out_of_time() const {
    return options_.time_limit > 0.0 && seconds_since(options_.begin) >= options_.time_limit;
  }
  bool is_cut() const {
    return interrupted() || is_asked_to_stop() || failed_.load(std::memory_order_relaxed);
  }
  /// A budget that is used leaves an answer: every chain has a draw, however long that takes.
  bool owes_draw(const Chain& chain) const { return chain.sweep() < first_draw_; }
  bool any_owes_draw() const {
    return !are_set_up_ ||
           std::any_of(chains_.begin(), chains_.end(), [&](const auto& chain) { return owes_draw(*chain); });
  }
  /// Asked by the watch, while chains are set up or draw. A budget that was not asked for waits for the first
  /// draw of every chain, a time limit hardly.
  bool is_time_to_halt() const {
    if (interrupted() || is_asked_to_stop()) return true;
    if (!out_of_time()) return false;
    if (first_draw_ == 0 || !any_owes_draw()) return true;
    return has_given_limit_ && seconds_since(options_.begin) >= options_.time_limit + kSecondsToFirstDraw;
  }

  /// What a chain keeps beside its state may take long to make, too. False if it was stopped.
  bool set_up_chains() {
    try {
      for (std::size_t index = 0; index < config_.chains; ++index) {
        chains_.push_back(std::make_unique<Chain>(file_, setup_, problem_, config_, index, options_));
        busy_.push_back(false);
        statuses_.push_back(chains_.back()->status());
        progress_.push_back({chains_.back()->sweep()});
      }
    } catch (const Error& error) {
      if (error.code() != ErrorCode::stopped) throw;
      return false;
    }
    are_set_up_ = true;
    return true;
  }
  bool is_over_for(const Chain& chain) const { return is_cut() || (out_of_time() && !owes_draw(chain)); }

  void work() {
    std::unique_lock lock(mutex_);
    while (!is_cut() && !halt_) {
      const std::size_t chosen = furthest_behind();
      if (out_of_time() && (chosen == chains_.size() || !owes_draw(*chains_[chosen]))) return;
      if (chosen == chains_.size() && (!config_.is_until_trusted() || has_ended_))
        return;  // the rest is in other hands
      if (chosen == chains_.size()) {
        wait_or_decide(lock);
        continue;
      }
      busy_[chosen] = true;
      Chain& chain = *chains_[chosen];
      lock.unlock();
      std::exception_ptr failure;
      try {
        chain.run_block([&] { return is_over_for(chain); });
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      busy_[chosen] = false;
      try {
        if (failure) std::rethrow_exception(failure);
        collect(chosen);
      } catch (const Error& error) {
        if (error.code() == ErrorCode::stopped) return;  // during initialization, which is not stored
        fail_with(std::current_exception());
      } catch (...) {
        fail_with(std::current_exception());
      }
      changed_.notify_all();
    }
  }

  void fail_with(const std::exception_ptr& failure) {
    if (!failure_) failure_ = failure;
    failed_ = true;
  }

  /// All chains are at the end of their length, or in the hands of others who will get there.
  void wait_or_decide(std::unique_lock<std::mutex>& lock) {
    // A stop is not announced: it is looked for.
    constexpr std::chrono::milliseconds kLookAgain(20);
    if (std::any_of(busy_.begin(), busy_.end(), [](char busy) { return busy != 0; })) {
      changed_.wait_for(lock, kLookAgain);
      return;
    }
    try {
      decide();
    } catch (...) {
      fail_with(std::current_exception());
    }
    changed_.notify_all();
  }

  /// What is decided follows from what the file holds, so it is the same whenever it is decided.
  void decide() {
    write();
    const LengthDecision decision =
        decide_length(config_.length(), file_.traces(setup_.traces.size()),
                      length_limits(setup_.problem.table_rows(), setup_.levels),
                      [&](std::size_t first) { return partition_values(file_, setup_, first); });
    file_.set_length(decision.length, decision.is_end ? kEndTrusted : "");
    config_.set_length(decision.length);
    has_ended_ = decision.is_end;
    if (options_.observer != nullptr) options_.observer->on_decision(decision, setup_.traces);
  }

  bool all_finished() const {
    return std::all_of(chains_.begin(), chains_.end(), [](const auto& chain) { return chain->finished(); });
  }

  std::size_t furthest_behind() const {
    std::size_t chosen = chains_.size();
    for (std::size_t index = 0; index < chains_.size(); ++index) {
      if (busy_[index] || chains_[index]->finished()) continue;
      if (chosen == chains_.size() || chains_[index]->sweep() < chains_[chosen]->sweep()) chosen = index;
    }
    return chosen;
  }

  void collect(std::size_t index, bool is_last = false) {
    const Clock::time_point begin = Clock::now();
    Chain& chain = *chains_[index];
    const bool is_due = seconds_since(last_commit_) >= seconds_between_commits_;
    // The state of a fit that runs once may be large: it is asked for where it is written.
    const bool is_wanted = !chain.runs_once() || is_due || is_last || chain.finished();
    if (chain.runs_once() && is_wanted) chain.keep_state();
    DrawBlock draws = chain.take_draws();
    if (options_.observer != nullptr && draws.count != 0)
      options_.observer->on_draws(index, draws.first, draws.count, draws.traces);
    if (draws.count != 0) {
      // A fit that runs once replaces the draw of the block before.
      std::erase_if(blocks_,
                    [&](const DrawBlock& old) { return old.chain == index && old.block == draws.block; });
      blocks_.push_back(std::move(draws));
    }
    if (chain.at_checkpoint() && is_wanted) {
      std::erase_if(checkpoints_, [&](const Checkpoint& old) { return old.chain == index; });
      checkpoints_.push_back(chain.checkpoint());
    }
    statuses_[index] = chain.status();
    progress_[index] = chain.progress();
    if (is_due) {
      write();
      seconds_between_commits_ =
          std::max(kLeastSecondsBetweenCommits, seconds_since(begin) / kShareOfCommits);
    }
    if (options_.observer != nullptr)
      options_.observer->on_progress(progress_, config_.is_until_trusted() ? 0 : config_.total_sweeps());
  }

  void write() {
    can_write_ = false;
    file_.commit(blocks_, checkpoints_, statuses_, elapsed_before_ + seconds_since(started_));
    can_write_ = true;
    blocks_.clear();
    checkpoints_.clear();
    last_commit_ = Clock::now();
  }

  RunFile& file_;
  const ProblemSetup& setup_;
  FitOptions options_;
  RunConfig config_;
  Problem problem_;  // whose flag ends a sweep
  const std::atomic<bool>* asked_;
  std::atomic<bool> halt_{false};
  bool has_given_limit_ = false;          // a time limit was asked for
  std::size_t first_draw_ = 0;            // its sweep, of a run until trusted
  std::atomic<bool> are_set_up_ = false;  // all chains
  double elapsed_before_;
  Clock::time_point started_ = Clock::now();
  Clock::time_point last_commit_;
  double seconds_between_commits_ = kLeastSecondsBetweenCommits;
  bool can_write_ = true;   // as far as was seen
  bool has_ended_ = false;  // a run until trusted can be trusted
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Chain>> chains_;
  std::vector<char> busy_;
  std::vector<DrawBlock> blocks_;
  std::vector<Checkpoint> checkpoints_;
  std::vector<ChainStatus> statuses_;
  std::vector<ChainProgress> progress_;
  std::exception_ptr failure_;
  std::atomic<bool> failed_{false};
};

}  // namespace

double budget_of(const FitOptions& options) {
  if (options.time_limit > 0.0) return options.time_limit;
  return options.sketch ? kSketchBudget : kDefaultBudget;
}

FitEnd continue_run(RunFile& file, const ProblemSetup& setup, const FitOptions& options) {
  return Scheduler(file, setup, options).run();
}

}  // namespace coppice
