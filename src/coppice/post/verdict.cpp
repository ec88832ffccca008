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

std::string more_draws(std::size_t count) {
  return fmt::format("run longer (coppice resume RUN --draws +{})", count);
}

// Fewer digits than the table, but never so few that a value beyond the limit looks like the limit.
std::string show_rhat(double value) {
  return value < 1.1 ? fmt::format("{:.3f}", value) : fmt::format("{:.2f}", value);
}

std::size_t round_down(double value) { return static_cast<std::size_t>(std::floor(value)); }

}  // namespace

Verdict judge(std::span<const TraceSummary> traces, std::size_t chains, std::size_t draws, bool exact) {
  const TraceSummary* highest_rhat = nullptr;
  const TraceSummary* lowest_ess = nullptr;
  const auto ess_of = [](const TraceSummary& trace) { return std::min(trace.ess_bulk, trace.ess_tail); };
  std::size_t informative = 0;
  for (const TraceSummary& trace : traces) {
    if (trace.constant) continue;
    ++informative;
    if (!std::isfinite(trace.mean)) {
      return {
          false,
          fmt::format(
              "Do not trust it: {} is not a finite number in some draw; the model does not fit this data or "
              "its settings: check the columns and priors, then fit again.",
              trace.name),
          trace.name};
    }
    if (!std::isnan(trace.rhat) && (!highest_rhat || trace.rhat > highest_rhat->rhat)) highest_rhat = &trace;
    if (!std::isnan(ess_of(trace)) && (!lowest_ess || ess_of(trace) < ess_of(*lowest_ess)))
      lowest_ess = &trace;
  }
  if (draws < 4) {
    return {false,
            fmt::format("Do not trust it yet: {} draw{} per chain cannot be diagnosed: {}.", draws,
                        draws == 1 ? "" : "s", more_draws(1000)),
            ""};
  }
  if (informative == 0) {
    const char* reason = traces.empty() ? "no trace was recorded" : "every trace is constant";
    return {false,
            fmt::format(
                "Cannot tell: {}, so either the answer is certain or the chains never moved: fit again with "
                "another --seed and compare (coppice compare A B).",
                reason),
            traces.empty() ? std::string() : traces.front().name};
  }
  const double need = std::max(kEssTotal, kEssPerChain * static_cast<double>(chains));
  const bool few_draws = lowest_ess && ess_of(*lowest_ess) < need;
  if (chains < 2) {
    const std::string draws_part =
        !lowest_ess
            ? std::string("the traces cannot be diagnosed")
            : fmt::format("{} has {} effective draws{}", lowest_ess->name, round_down(ess_of(*lowest_ess)),
                          few_draws ? fmt::format(" (below {:.0f})", need) : std::string());
    return {false,
            fmt::format(
                "Do not trust it yet: with one chain, agreement between chains cannot be checked ({}): fit "
                "again with --chains 4.",
                draws_part),
            lowest_ess ? lowest_ess->name : std::string()};
  }
  if (highest_rhat && highest_rhat->rhat > kRhatLimit) {
    if (std::isinf(highest_rhat->rhat)) {
      return {
          false,
          fmt::format("Do not trust it: {} is stuck at a different value in every chain: fit again with more "
                      "--warmup or other moves (coppice fit MODEL --help).",
                      highest_rhat->name),
          highest_rhat->name};
    }
    // Chains that are nearly apart will not meet by patience alone.
    const bool apart = highest_rhat->rhat > 1.5;
    const double have = lowest_ess ? ess_of(*lowest_ess) : 1.0;
    const std::size_t more = std::max(draws_to_add(have, need, draws), draws);
    return {
        false,
        fmt::format("Do not trust it yet: R-hat of {} is {} (above {}), so the {} chains do not agree: {}.",
                    highest_rhat->name, show_rhat(highest_rhat->rhat), kRhatLimit, chains,
                    apart ? "fit again with more --warmup or other moves, since more draws alone are "
                            "unlikely to help"
                          : more_draws(more) + " or fit again with more --warmup"),
        highest_rhat->name};
  }
  if (few_draws) {
    const double have = ess_of(*lowest_ess);
    return {
        false,
        fmt::format(
            "Do not trust it yet: {} has only {} effective draws (below {:.0f}), although the {} chains "
            "agree: {}.",
            lowest_ess->name, round_down(have), need, chains, more_draws(draws_to_add(have, need, draws))),
        lowest_ess->name};
  }
  if (!highest_rhat || !lowest_ess) {
    return {false,
            "Cannot tell: no trace has an R-hat and an effective sample size; look at the table of traces.",
            ""};
  }
  const std::string agreement =
      fmt::format("{} chains agree (R-hat {} at most) and every trace has at least {} effective draws",
                  chains, show_rhat(highest_rhat->rhat), round_down(ess_of(*lowest_ess)));
  if (!exact)
    return {false,
            fmt::format("Do not trust it as a posterior: {}, but their distribution is not the posterior.",
                        agreement),
            lowest_ess->name};
  return {true, fmt::format("Trust it: {}.", agreement), lowest_ess->name};
}

}  // namespace coppice
