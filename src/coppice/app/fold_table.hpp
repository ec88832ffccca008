// A crossvalidation as text, JSON and CSV: the same for cells and labels.
#pragma once

#include <string>

#include "coppice/app/context.hpp"
#include "coppice/post/fold_scores.hpp"

namespace coppice::app {

/// Writes the folds to `output` if it is named, and the table or JSON to stdout. The exit code is 75 if folds
/// that were wanted are missing.
int write_folds(const Crossvalidation& folds, const std::string& output, const Context& context);

}  // namespace coppice::app
