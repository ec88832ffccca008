// The weight that the prior of a binary, binomial or category column gives each value, where none was given
// and the model has a lower bound of the evidence to go by: columns that are nearly constant within clusters
// ask for a small one, which the default hides.
#pragma once

#include <functional>

#include "coppice/run/run_file.hpp"

namespace coppice {

/// Adds the weight to the settings of the families, if it is not the default, and a note for people. False if
/// the model has no bound, --hyper is fixed, or there is nothing to choose. `evidence_bound` is the model's
/// bound under a configuration.
bool choose_prior_weight(RunContents& contents,
                         const std::function<double(const RunConfig&)>& evidence_bound);

}  // namespace coppice
