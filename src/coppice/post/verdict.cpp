#include "coppice/post/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace coppice {

namespace {

// The draws to add per chain so that `have` effective draws become `need`, rounded up to a number people
// type.
std::size_t draws_to_add(double have, double need, std::size_t draws) {
  const auto current = static_cast<double>(std::max<std::size_t>(draws, 1));
  const double wanted = current * (need / std::max(have, 1.0)) * 1.2 - current;
  const double step = wanted > 1000.0 ? 1000.0 : 100.0;
  const double capped = std::clamp(wanted, step, 100.0 * current + 1000.0);
  return static_cast<std::size_t>(std::ceil(capped / step) * step);
}

std::string more_draws(const std::string& file, std::size_t count) {
  return fmt::format("run longer (coppice resume {} --draws +{})", file, count);
}

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
  return evidence.warmup == 0 ? "fit again with more --warmup"
                              : fmt::format("fit again with --warmup {}", 4 * evidence.warmup);
}

Verdict judge_disagreement(const Evidence& evidence, const Extremes& found, double need) {
  const TraceSummary& worst = *found.highest_rhat;
  const bool of_partitions = &worst >= evidence.partitions.data() &&
                             &worst < evidence.partitions.data() + evidence.partitions.size();
  const char* on_what = of_partitions ? " on what belongs together" : "";
  Verdict verdict;
  const std::string compare = fmt::format(
      "fit again with another --seed and compare (coppice compare {} OTHER): if the same answers come back, "
      "the data support several",
      evidence.file);
  if (std::isinf(worst.rhat)) {
    verdict =
        not_yet(fmt::format("Do not trust it: {} is stuck at a different value in every chain", worst.name),
                &worst, {"fit again with more --warmup or other moves (coppice fit MODEL --help)", compare});
  } else {
    // Chains that are nearly apart will not meet by patience alone.
    const bool apart = worst.rhat > 1.5;
    const double have = found.lowest_ess != nullptr ? ess_of(*found.lowest_ess) : 1.0;
    // With just enough effective draws R-hat is still about the limit by chance: twice as many are asked for.
    const std::string longer =
        more_draws(evidence.file, std::max(draws_to_add(have, 2.0 * need, evidence.draws), evidence.draws));
    std::vector<std::string> remedies;
    if (apart)
      remedies = {"fit again with more --warmup or other moves, since more draws alone are unlikely to help",
                  compare};
    else
      remedies = {longer + " or " + more_warmup(evidence), compare};
    verdict = not_yet(
        fmt::format("Do not trust it yet: R-hat of {} is {} (above {}), so the {} chains do not agree{}",
                    worst.name, rhat_text(worst.rhat), kRhatLimit, evidence.chains, on_what),
        &worst, std::move(remedies));
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
                   nullptr, {more_draws(evidence.file, 1000)});
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
    return not_yet(
        fmt::format("Do not trust it yet: {} has only {} effective draws (below {:.0f}), although the {} "
                    "chains agree",
                    lowest->name, round_down(have), need, evidence.chains),
        lowest, {more_draws(evidence.file, draws_to_add(have, need, evidence.draws))});
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
