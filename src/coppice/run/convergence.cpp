#include "coppice/run/convergence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace coppice {
namespace {

TraceValues window_of(const TraceValues& trace, std::size_t first, std::size_t last) {
  const auto begin = static_cast<std::ptrdiff_t>(first);
  const auto end = static_cast<std::ptrdiff_t>(last);
  TraceValues window;
  for (const std::vector<double>& chain : trace)
    window.emplace_back(chain.begin() + begin, chain.begin() + end);
  if (window.size() != 1) return window;
  const auto half = static_cast<std::ptrdiff_t>(window[0].size() / 2);
  window.emplace_back(window[0].end() - half, window[0].end());
  window[0].resize(static_cast<std::size_t>(half));
  return window;
}

}  // namespace

double needed_effective_draws(std::size_t chains) {
  return std::max(kEssTotal, kEssPerChain * static_cast<double>(chains));
}

Convergence assess_convergence(std::span<const TraceValues> traces, std::size_t first, std::size_t last) {
  Convergence found;
  found.least_ess = std::numeric_limits<double>::infinity();
  for (std::size_t trace = 0; trace < traces.size(); ++trace) {
    const TraceValues window = window_of(traces[trace], first, last);
    if (is_constant(window)) continue;
    ++found.informative;
    // What cannot be diagnosed, because a draw is not finite or there are too few, does not agree.
    const double agreement = rhat(window);
    const double rhat_or_none = std::isnan(agreement) ? std::numeric_limits<double>::infinity() : agreement;
    const double effective = std::min(ess_bulk(window), ess_tail(window));
    const double ess_or_none = std::isnan(effective) ? 0.0 : effective;
    if (found.informative == 1 || rhat_or_none > found.worst_rhat) {
      found.worst_rhat = rhat_or_none;
      found.rhat_trace = trace;
    }
    if (ess_or_none < found.least_ess) {
      found.least_ess = ess_or_none;
      found.ess_trace = trace;
    }
  }
  if (found.informative == 0) found.least_ess = 0.0;
  const std::size_t chains = traces.empty() ? 0 : traces.front().size();
  found.is_reached = found.informative > 0 && found.worst_rhat <= kRhatLimit &&
                     found.least_ess >= needed_effective_draws(chains);
  return found;
}

}  // namespace coppice
