// THE LIST of models.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coppice/model/model.hpp"
#include "coppice/model/new_cells.hpp"

namespace coppice {

/// The list of models.
const std::vector<ModelEntry>& all_models();

/// Throws Error{usage} naming the models there are.
const ModelEntry& model_by_name(std::string_view name);

/// The models that can do this, as in models_that(&ModelEntry::has_views), in the order of the list.
std::vector<std::string> models_that(bool (ModelEntry::*can)() const);

/// Throws Error{configuration}, naming the models that can, if the predictor is not a NewCells.
const NewCells& new_cells_of(const Predictor& predictor);

/// The baselines of the models that learn labels; nullptr if there is none of that name.
const LabelBaseline* label_baseline_by_name(std::string_view name);

}  // namespace coppice
