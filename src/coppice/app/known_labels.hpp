// Labels that were known before the fit, and how well a partition agrees with them.
#pragma once

#include <nlohmann/json.hpp>

#include "coppice/data/table.hpp"
#include "coppice/post/scores.hpp"

namespace coppice::app {

/// Labels of a column of known classes; kMissingTruth where a cell is missing.
Labels known_labels(const Column& column);

nlohmann::ordered_json to_json(const Scores& scores);

}  // namespace coppice::app
