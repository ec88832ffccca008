// THE LIST of models.
#pragma once

#include <string_view>
#include <vector>

#include "coppice/model/model.hpp"

namespace coppice {

const std::vector<ModelEntry>& all_models();

/// Throws Error{usage} naming the models there are.
const ModelEntry& model_by_name(std::string_view name);

}  // namespace coppice
