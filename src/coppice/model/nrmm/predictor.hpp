// Predictive density of new rows under a stored draw:
// p(x | draw) = [sum_c n_c p(x | X_c) + alpha m(x)] / (N + alpha) for the Dirichlet process and
// u / (N (1 + u)) [sum_c (n_c - sigma) p(x | X_c) + alpha sigma (1 + u)^sigma m(x)] for the normalized
// generalized gamma process.
#pragma once

#include <memory>

#include "coppice/model/model.hpp"

namespace coppice::nrmm {

std::unique_ptr<Predictor> make_predictor(const Problem& problem);

}  // namespace coppice::nrmm
