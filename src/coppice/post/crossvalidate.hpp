// How well models predict what they have not seen, fold after fold: cells that are taken out of the table, or
// for models that learn labels the labels of rows that are held out. The parts are the same for all models.
#pragma once

#include <span>
#include <string>

#include "coppice/post/crossvalidation.hpp"

namespace coppice {

/// NAME, NAME-FLAG for a flag of the model, NAME:SETTING=VALUE:..., or the name of a baseline. Throws
/// Error{usage or configuration}.
Contender parse_contender(const std::string& text);

/// Whether they predict labels. Throws Error{configuration} if some do and others predict cells.
bool predict_labels(std::span<const Contender> contenders);

/// Of cells the first model of the answer is "one cluster": what columns tell without any structure.
Crossvalidation crossvalidate(const CrossvalidationRequest& request);

}  // namespace coppice
