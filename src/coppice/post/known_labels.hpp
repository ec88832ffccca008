// Labels that were known before the fit.
#pragma once

#include "coppice/data/table.hpp"
#include "coppice/post/scores.hpp"

namespace coppice {

/// Labels of a column of known classes; kMissingTruth where a cell is missing.
Labels known_labels(const Column& column);

}  // namespace coppice
