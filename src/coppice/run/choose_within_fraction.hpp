// The fraction of a real column's variance that is within clusters, if no hyper-parameters are given. A fixed
// value is fragile (too large hides clusters, too small shatters a single cloud), so a few are tried and the
// one with the largest lower bound on the model's evidence is taken.
#pragma once

#include <functional>

#include "coppice/run/run_file.hpp"

namespace coppice {

/// Adds the fraction to the settings of the families, and a note. False if the model has no bound to
/// go by, or there is nothing to choose. `evidence_bound` is the model's bound under a configuration, and may
/// be asked for several at the same time.
bool choose_within_fraction(RunContents& contents, std::size_t threads,
                            const std::function<double(const RunConfig&)>& evidence_bound);

}  // namespace coppice
