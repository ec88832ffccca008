// New rows: each cluster with its share of the rows, and a new cluster.
#pragma once

#include <memory>

#include "coppice/model/model.hpp"

namespace coppice::example {

std::unique_ptr<Predictor> make_predictor(const Problem& problem);

}  // namespace coppice::example
