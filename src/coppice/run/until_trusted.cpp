#include "coppice/run/until_trusted.hpp"

#include <algorithm>
#include <numeric>

#include "coppice/run/config.hpp"

namespace coppice {
namespace {

constexpr std::size_t kFirstBlocks = 2;
// Fewer draws of a chain would make co-clustering probabilities coarse, however well they mix.
constexpr std::size_t kLeastDraws = 250;
// If nothing ever changes, the answer is certain or the chains are stuck: more of the same would not tell.
constexpr std::size_t kConstantDraws = 1000;
// Labels that the draws of a chain may hold before fewer of them are kept.
constexpr std::size_t kLabelsPerChain = 20'000'000;
constexpr std::size_t kFewestMostDraws = 500;
constexpr std::size_t kLargestMostDraws = 2000;

std::size_t round_up(std::size_t value, std::size_t step) { return (value + step - 1) / step * step; }

struct WarmupChoice {
  std::size_t warmup = 0;
  std::size_t first = 0;  // the first draw after it
  Convergence convergence;
};

WarmupChoice choose_warmup(const RunLength& length, std::span<const TraceValues> traces) {
  const std::size_t sweeps = length.sweeps();
  WarmupChoice best;
  for (const std::size_t part : {10U, 4U, 2U}) {
    const std::size_t wanted = sweeps / part;
    const std::size_t warmup = round_up(std::max(wanted, length.warmup), length.thin);
    const std::size_t first = (warmup - length.warmup) / length.thin;
    const Convergence found = assess_convergence(traces, first, length.draws);
    if (part == 10U || found.least_ess >= best.convergence.least_ess) best = {warmup, first, found};
  }
  return best;
}

}  // namespace

LengthLimits length_limits(std::size_t rows, std::size_t levels) {
  return {sweeps_per_block(rows), std::clamp(kLabelsPerChain / std::max<std::size_t>(rows * levels, 1),
                                             kFewestMostDraws, kLargestMostDraws)};
}

RunLength first_length(const LengthLimits& limits) { return {0, kFirstBlocks * limits.sweeps_per_block, 1}; }

LengthDecision decide_length(const RunLength& length, std::span<const TraceValues> traces,
                             const LengthLimits& limits,
                             const std::function<std::vector<TraceValues>(std::size_t first)>& partitions) {
  const std::size_t sweeps = length.sweeps();
  const WarmupChoice choice = choose_warmup(length, traces);
  LengthDecision decision{
      false, {choice.warmup, (sweeps - choice.warmup) / length.thin, length.thin}, choice.convergence};
  const bool is_constant = choice.convergence.informative == 0;
  decision.is_end = is_constant ? decision.length.draws >= kConstantDraws
                                : choice.convergence.is_reached && decision.length.draws >= kLeastDraws;
  if (decision.is_end && !is_constant && partitions) {
    const std::vector<TraceValues> values = partitions(choice.first);
    const std::size_t count = values.empty() ? 0 : values.front().front().size();
    const Convergence found = assess_convergence(values, 0, count);
    decision.is_end = found.informative == 0 || found.is_reached;
  }
  if (decision.is_end) return decision;
  RunLength& next = decision.length;
  std::size_t end = 0;
  const auto plan = [&] {
    // Statistics are rebuilt at the end of a block, so decisions are made where blocks end. Warm-up and end
    // are multiples of the thinning, so that what is kept now was kept before.
    end =
        round_up(sweeps + std::max<std::size_t>(sweeps / 2, 1), std::lcm(limits.sweeps_per_block, next.thin));
    next.warmup = round_up(choice.warmup, next.thin);
    next.draws = (end - next.warmup) / next.thin;
  };
  for (plan(); next.draws > limits.most_draws; plan()) next.thin *= 2;
  return decision;
}

}  // namespace coppice
