// Predictive density of new rows under a stored draw: a row joins a sub-cluster, opens one in a cluster, or
// opens a cluster, with the weights of the Gibbs update.
#pragma once

#include <memory>

#include "coppice/model/model.hpp"

namespace coppice::nhcm {

std::unique_ptr<Predictor> make_predictor(const Problem& problem);

}  // namespace coppice::nhcm
