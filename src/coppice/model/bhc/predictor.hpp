// Predictives under the tree of a fit (TreePredictive), divided between its flat clusters.
#pragma once

#include <memory>

#include "coppice/model/model.hpp"

namespace coppice::bhc {

std::unique_ptr<Predictor> make_predictor(const Problem& problem);

}  // namespace coppice::bhc
