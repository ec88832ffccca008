// The one sentence that comes before all diagnostics: can this run be trusted, and if not, what to do. A run
// is trusted if at least two chains agree (R-hat at most 1.01 for every trace) and every trace has at least
// 100 effective draws per chain and 400 in total, in the bulk and in the tail: the thresholds of Vehtari et
// al. (2021). Constant traces carry no information and are left out, unless all are constant. Draws of a
// sampler that is not exact are never trusted, however well its chains agree. Traces of who is with whom
// (post/partition_diagnostics.hpp) count like those of the model.
//
// A longer run is advised only where it can be expected to end: R-hat at most 1.2, at least ten effective
// draws of every chain to extrapolate from, and no more than an hour at the pace so far.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "coppice/run/convergence.hpp"
#include "coppice/run/diagnostics.hpp"

namespace coppice {

struct Verdict {
  bool trusted = false;
  bool converged = false;   // chains agree and have enough effective draws, of whatever law they are draws
  bool is_diffuse = false;  // converged, but most pairs that may belong together are undecided
  std::string sentence;
  std::string worst_trace;            // the trace that decides; empty if none does
  bool is_about_partitions = false;   // that trace is one of who is with whom
  std::vector<std::string> remedies;  // what to do, the most promising first; the sentence has the first one
};

/// What a verdict rests on.
struct Evidence {
  std::span<const TraceSummary> traces;           // of the model
  std::span<const TraceSummary> partitions = {};  // of who is with whom
  std::size_t chains = 0;
  std::size_t draws = 0;          // kept ones of each chain
  std::size_t warmup = 0;         // sweeps before them; 0: not known
  bool exact = true;              // they are draws of a posterior
  std::string file = "RUN";       // of the run, as advice names it
  double seconds = 0.0;           // by the clock, that all sweeps took; 0: not known
  bool is_until_trusted = false;  // the run may go on until it can be trusted
};

/// Never throws; needs no trace to give a sentence.
Verdict judge(const Evidence& evidence);
/// The same without traces of who is with whom.
Verdict judge(std::span<const TraceSummary> traces, std::size_t chains, std::size_t draws, bool exact = true);

/// An R-hat in as few digits as tables need, but never so few that a value beyond the limit looks like it.
std::string rhat_text(double value);

}  // namespace coppice
