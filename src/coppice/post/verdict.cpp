#include "coppice/post/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace coppice {

namespace {

// Advice to run longer is given where it can be kept: chains that are further apart than this will not meet
// by patience alone, from fewer effective draws of a chain nothing can be extrapolated.
constexpr double kMostRhatForPatience = 1.2;
constexpr double kLeastEssOfChain = 10.0;
constexpr double kMostSeconds = 3600.0;
constexpr std::size_t kLeastDrawsToJudge = 100;  // of a chain
constexpr std::size_t kDrawsForAFirstJudgment = 1000;

std::string more_draws(const std::string& file, std::size_t count) {
  return fmt::format("run longer (coppice resume {} --draws +{})", file, count);
}

std::string time_words(double seconds) {
  if (seconds < 90.0) return fmt::format("{:.0f} s", std::max(seconds, 1.0));
  if (seconds < 5400.0) return fmt::format("{:.0f} minutes", seconds / 60.0);
  if (seconds < 48.0 * 3600.0) return fmt::format("{:.0f} hours", seconds / 3600.0);
  return "days";
}

/// Of so few draws R-hat is little more than chance: what is advised is to look again, with no promise.
std::string first_judgment(const Evidence& evidence) {
  if (!evidence.is_until_trusted || evidence.seconds <= 0.0)
    return more_draws(evidence.file, kDrawsForAFirstJudgment);
  const auto draws = static_cast<double>(std::max<std::size_t>(evidence.draws, 1));
  const double seconds = evidence.seconds / draws * static_cast<double>(kDrawsForAFirstJudgment);
  const std::string few = fmt::format("{} draw{} of a chain say{} little", evidence.draws,
                                      evidence.draws == 1 ? "" : "s", evidence.draws == 1 ? "s" : "");
  if (seconds > kMostSeconds)
    return fmt::format("{}, and {} would take {} at the pace so far: fit a sample of the rows first", few,
                       kDrawsForAFirstJudgment, time_words(seconds));
  return fmt::format("run longer (coppice resume {} --time-limit {:.0f}m), since {}", evidence.file,
                     std::max(std::ceil(seconds / 60.0), 1.0), few);
}

/// How much longer the run would have to be, if what it has done so far is a guide.
class Extension {
 public:
  /// So that `have` effective draws become `need`, but by `least` draws of a chain.
  Extension(const Evidence& evidence, double have, double need, std::size_t least = 0)
      : evidence_(&evidence) {
    const auto current = static_cast<double>(std::max<std::size_t>(evidence.draws, 1));
    wanted_ = std::max(current * (need / std::max(have, 1.0)) * 1.2 - current, static_cast<double>(least));
    const double step = wanted_ > 1000.0 ? 1000.0 : 100.0;
    wanted_ = std::ceil(std::max(wanted_, step) / step) * step;
    seconds_ = evidence.seconds * wanted_ / current;
    is_foreseeable_ = have >= kLeastEssOfChain * static_cast<double>(evidence.chains);
  }
  bool can_be_advised() const { return is_foreseeable_ && seconds_ <= kMostSeconds; }
  /// Why not.
  std::string obstacle() const {
    return is_foreseeable_ ? fmt::format("at this pace enough draws would take {}", time_words(seconds_))
                           : std::string("too little is known to say how many more draws would be enough");
  }
  /// The command, and how long it will take.
  std::string advice() const {
    if (!evidence_->is_until_trusted || seconds_ <= 0.0)
      return more_draws(evidence_->file, static_cast<std::size_t>(wanted_)) + about();
    // It ends as soon as it can be trusted: half as much again costs nothing if it is not needed.
    const double minutes = std::max(std::ceil(1.5 * seconds_ / 60.0), 1.0);
    return fmt::format("run longer (coppice resume {} --time-limit {:.0f}m){}", evidence_->file, minutes,
                       about());
  }

 private:
  std::string about() const {
    return seconds_ > 0.0 ? fmt::format(", for about {} at the pace so far", time_words(seconds_))
                          : std::string();
  }

  const Evidence* evidence_;
  double wanted_ = 0.0, seconds_ = 0.0;
  bool is_foreseeable_ = false;
};

std::size_t round_down(double value) { return static_cast<std::size_t>(std::floor(value)); }

double ess_of(const TraceSummary& trace) { return std::min(trace.ess_bulk, trace.ess_tail); }

/// The traces that decide.
struct Extremes {
  const TraceSummary* highest_rhat = nullptr;
  const TraceSummary* lowest_ess = nullptr;
  const TraceSummary* broken = nullptr;  // not finite in some draw
  std::size_t informative = 0;

  void add(std::span<const TraceSummary> traces) {
    for (const TraceSummary& trace : traces) {
      if (trace.constant) continue;
      ++informative;
      if (!std::isfinite(trace.mean)) {
        if (broken == nullptr) broken = &trace;
        continue;
      }
      if (!std::isnan(trace.rhat) && (highest_rhat == nullptr || trace.rhat > highest_rhat->rhat))
        highest_rhat = &trace;
      if (!std::isnan(ess_of(trace)) && (lowest_ess == nullptr || ess_of(trace) < ess_of(*lowest_ess)))
        lowest_ess = &trace;
    }
  }
};

Verdict not_yet(std::string reason, const TraceSummary* worst, std::vector<std::string> remedies) {
  Verdict verdict;
  verdict.sentence = fmt::format("{}: {}.", reason, remedies.front());
  if (worst != nullptr) verdict.worst_trace = worst->name;
  verdict.remedies = std::move(remedies);
  return verdict;
}

std::string more_warmup(const Evidence& evidence) {
  return evidence.warmup == 0 ? "more --warmup" : fmt::format("--warmup {}", 4 * evidence.warmup);
}

Verdict judge_disagreement(const Evidence& evidence, const Extremes& found, double need) {
  const TraceSummary& worst = *found.highest_rhat;
  const bool of_partitions = &worst >= evidence.partitions.data() &&
                             &worst < evidence.partitions.data() + evidence.partitions.size();
  const char* on_what = of_partitions ? " on what belongs together" : "";
  const std::string apart =
      std::isinf(worst.rhat)
          ? fmt::format(
                "Do not trust it yet: {} never changed in a chain, but is not the same in all {} of them",
                worst.name, evidence.chains)
          : fmt::format("Do not trust it yet: R-hat of {} is {} (above {}), so the {} chains do not agree{}",
                        worst.name, rhat_text(worst.rhat), kRhatLimit, evidence.chains, on_what);
  Verdict verdict;
  const std::string compare = fmt::format(
      "fit again with another --seed and compare (coppice compare {} OTHER): if the same answers come back, "
      "the data support several",
      evidence.file);
  if (evidence.draws < kLeastDrawsToJudge) {
    verdict = not_yet(apart, &worst, {first_judgment(evidence), compare});
  } else {
    const double have = found.lowest_ess != nullptr ? ess_of(*found.lowest_ess) : 1.0;
    // With just enough effective draws R-hat is still about the limit by chance: twice as many are asked for.
    const Extension extension(evidence, have, 2.0 * need, evidence.draws);
    std::vector<std::string> remedies;
    if (worst.rhat <= kMostRhatForPatience && extension.can_be_advised())
      remedies = {extension.advice(), compare};
    else
      remedies = {
          fmt::format("use what all chains agree on; no number of further draws can be promised to settle "
                      "the rest, since {}",
                      worst.rhat > kMostRhatForPatience ? std::string("chains so far apart may never meet")
                                                        : extension.obstacle()),
          compare, "fit again with other moves (coppice fit MODEL --help) or with " + more_warmup(evidence)};
    verdict = not_yet(apart, &worst, std::move(remedies));
  }
  verdict.is_about_partitions = of_partitions;
  return verdict;
}

}  // namespace

std::string rhat_text(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "-" : "infinite";
  if (value >= 1.1) return fmt::format("{:.2f}", value);
  for (int digits = 3; digits < 17; ++digits) {
    const std::string text = fmt::format("{:.{}f}", value, digits);
    if (value <= kRhatLimit || std::stod(text) > kRhatLimit) return text;
  }
  return fmt::format("{}", value);
}

Verdict judge(std::span<const TraceSummary> traces, std::size_t chains, std::size_t draws, bool exact) {
  Evidence evidence;
  evidence.traces = traces;
  evidence.chains = chains;
  evidence.draws = draws;
  evidence.exact = exact;
  return judge(evidence);
}

Verdict judge(const Evidence& evidence) {
  Extremes found;
  found.add(evidence.traces);
  if (found.broken != nullptr)
    return not_yet(
        fmt::format("Do not trust it: {} is not a finite number in some draw", found.broken->name),
        found.broken,
        {"the model does not fit this data or its settings; check the columns and priors, then fit "
         "again"});
  if (evidence.draws < 4)
    return not_yet(fmt::format("Do not trust it yet: {} draw{} per chain cannot be diagnosed", evidence.draws,
                               evidence.draws == 1 ? "" : "s"),
                   nullptr, {first_judgment(evidence)});
  found.add(evidence.partitions);
  if (found.informative == 0) {
    const char* reason = evidence.traces.empty() ? "no trace was recorded" : "every trace is constant";
    return not_yet(
        fmt::format("Cannot tell: {}, so either the answer is certain or the chains never moved", reason),
        evidence.traces.empty() ? nullptr : &evidence.traces.front(),
        {fmt::format("fit again with another --seed and compare (coppice compare {} OTHER)", evidence.file)});
  }
  const double need = needed_effective_draws(evidence.chains);
  const TraceSummary* lowest = found.lowest_ess;
  const bool few_draws = lowest != nullptr && ess_of(*lowest) < need;
  if (evidence.chains < 2) {
    const std::string draws_part =
        lowest == nullptr
            ? std::string("the traces cannot be diagnosed")
            : fmt::format("{} has {} effective draws{}", lowest->name, round_down(ess_of(*lowest)),
                          few_draws ? fmt::format(" (below {:.0f})", need) : std::string());
    return not_yet(
        fmt::format("Do not trust it yet: with one chain, agreement between chains cannot be checked ({})",
                    draws_part),
        lowest, {"fit again with --chains 4"});
  }
  if (found.highest_rhat != nullptr && found.highest_rhat->rhat > kRhatLimit)
    return judge_disagreement(evidence, found, need);
  if (few_draws) {
    const double have = ess_of(*lowest);
    const Extension extension(evidence, have, need);
    return not_yet(
        fmt::format("Do not trust it yet: {} has only {} effective draws (below {:.0f}), although the {} "
                    "chains agree",
                    lowest->name, round_down(have), need, evidence.chains),
        lowest,
        {extension.can_be_advised()
             ? extension.advice()
             : "use it with care where the traces are slow, since " + extension.obstacle()});
  }
  Verdict verdict;
  if (found.highest_rhat == nullptr || lowest == nullptr) {
    verdict.sentence =
        "Cannot tell: no trace has an R-hat and an effective sample size; look at the table of traces.";
    return verdict;
  }
  const std::string agreement =
      fmt::format("{} chains agree (R-hat {} at most) and every trace has at least {} effective draws",
                  evidence.chains, rhat_text(found.highest_rhat->rhat), round_down(ess_of(*lowest)));
  verdict.worst_trace = lowest->name;
  verdict.converged = true;
  verdict.trusted = evidence.exact;
  verdict.sentence =
      evidence.exact
          ? fmt::format("Trust it: {}.", agreement)
          : fmt::format("Do not trust it as a posterior: {}, but their distribution is not the posterior.",
                        agreement);
  return verdict;
}

}  // namespace coppice
