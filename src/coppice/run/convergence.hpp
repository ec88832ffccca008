// Whether chains agree and are long enough, judged by their traces alone: the thresholds of Vehtari et al.
// (2021), which both the verdict on a run and the rule that ends a run rely on. Every trace counts alike:
// those of the model, and any others that are given, such as distances to reference partitions.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "coppice/run/diagnostics.hpp"

namespace coppice {

inline constexpr double kRhatLimit = 1.01;
inline constexpr double kEssPerChain = 100.0;
inline constexpr double kEssTotal = 400.0;

/// The effective draws that every trace must have in all.
double needed_effective_draws(std::size_t chains);

/// Values of one trace: [chain][draw], as many draws in every chain.
using TraceValues = std::vector<std::vector<double>>;

struct Convergence {
  std::size_t informative = 0;  // traces that are not constant
  double worst_rhat = 1.0;      // over the informative traces; infinite if one has none
  std::size_t rhat_trace = 0;   // which trace that is
  double least_ess = 0.0;       // bulk or tail, over the informative traces
  std::size_t ess_trace = 0;    // which trace that is
  bool is_reached = false;      // R-hat and effective draws of every informative trace suffice
};

/// Looks at draws `first` to `last` (excluded) of every chain. A single chain is compared with itself: its
/// halves stand for two chains. Nothing is reached if all traces are constant.
Convergence assess_convergence(std::span<const TraceValues> traces, std::size_t first, std::size_t last);

}  // namespace coppice
