// How long a run is that lasts until it can be trusted. Chains are looked at together, at sweeps that grow by
// half each time: what is decided there is a function of their draws alone, so it depends neither on the
// number of threads, nor on how fast the machine is, nor on interruptions. The states of a chain never depend
// on these decisions; they say only which sweeps are kept as draws, and when the run ends.
//
// Warm-up: of a tenth, a quarter and half of all sweeps, the one that leaves the most effective draws in the
// trace that has the fewest (the rule of Chodera, 2016, J. Chem. Theory Comput. 12:1799, for several
// chains and traces). It never becomes shorter, so what was dropped is never needed again.
//
// Thinning: a chain keeps a bounded number of draws. When it would have more, every other one is dropped.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "coppice/run/convergence.hpp"
#include "coppice/run/run_length.hpp"

namespace coppice {

/// What the table decides: how often statistics are rebuilt, and how many draws a chain keeps at most.
struct LengthLimits {
  std::size_t sweeps_per_block = 100;
  std::size_t most_draws = 2000;
};
LengthLimits length_limits(std::size_t rows, std::size_t levels);

/// Until the first decision: all sweeps are draws, so that a run that ends there has an answer.
RunLength first_length(const LengthLimits& limits);

struct LengthDecision {
  bool is_end = false;      // the run can be trusted, or there is nothing to wait for
  RunLength length;         // of the run that ends here, or until the next decision
  Convergence convergence;  // of the draws after the warm-up
};

/// Decides at the end of `length`, given the traces of all its draws. `partitions`, if there is one, gives
/// the traces of who is with whom in the draws from a number on; it is asked only when the others suffice.
LengthDecision decide_length(
    const RunLength& length, std::span<const TraceValues> traces, const LengthLimits& limits,
    const std::function<std::vector<TraceValues>(std::size_t first)>& partitions = nullptr);

}  // namespace coppice
