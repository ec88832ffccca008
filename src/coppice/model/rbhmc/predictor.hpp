// Where a new row belongs in a stored draw: the prior probability of every path, existing or new, times the
// mixture at its end, from the tree, the components and the weights kept with the draw. The regularizer
// shapes the trees that are drawn; it plays no part in the predictive of a row.
#pragma once

#include <memory>

#include "coppice/model/model.hpp"

namespace coppice::rbhmc {

std::unique_ptr<Predictor> make_predictor(const Problem& problem);

}  // namespace coppice::rbhmc
