// The one sentence that comes before all diagnostics: can this run be trusted, and if not, what to do. A run
// is trusted if at least two chains agree (R-hat at most 1.01 for every trace) and every trace has at least
// 100 effective draws per chain and 400 in total, in the bulk and in the tail: the thresholds of Vehtari et
// al. (2021). Constant traces carry no information and are left out, unless all are constant. Draws of a
// sampler that is not exact are never trusted, however well its chains agree.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "coppice/post/diagnostics.hpp"

namespace coppice {

inline constexpr double kRhatLimit = 1.01;
inline constexpr double kEssPerChain = 100.0;
inline constexpr double kEssTotal = 400.0;

struct Verdict {
  bool trusted = false;
  std::string sentence;
  std::string worst_trace;  // the trace that decides; empty if none does
};

/// Judges a run of `chains` chains with `draws` kept draws each; `exact` if they are draws of a posterior.
/// Never throws; needs no trace to give a sentence.
Verdict judge(std::span<const TraceSummary> traces, std::size_t chains, std::size_t draws, bool exact = true);

}  // namespace coppice
