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

/// The model of that name. Throws Error{usage} that lists the models if there is none.
const ModelEntry& model_by_name(std::string_view name);

/// The models that can do this, as in models_that(&ModelEntry::has_views), in the order of the list.
std::vector<std::string> models_that(bool (ModelEntry::*can)() const);

/// The samplers that ask blocks of rows, as flags: "NAME --sampler WORD", separated by commas.
std::string samplers_in_blocks();

/// The predictor as a NewCells. Throws Error{configuration} that lists the models that have one.
const NewCells& new_cells_of(const Predictor& predictor);

/// The baseline of that name, of the models that learn labels; nullptr if there is none.
const LabelBaseline* label_baseline_by_name(std::string_view name);

}  // namespace coppice
