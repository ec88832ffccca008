// The predictor of a fit (CrossPredictive). Clusters are those of the view with most columns: a new row's
// density comes from all views, its cluster from that one.
#pragma once

#include <memory>

#include "coppice/model/model.hpp"

namespace coppice::bhcc {

std::unique_ptr<Predictor> make_predictor(const Problem& problem);

}  // namespace coppice::bhcc
