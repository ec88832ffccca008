// Predictives under one draw: views are independent, and in each a new row joins a cluster c with weight
// n_c p(x | X_c) or opens one with alpha m(x), over I + alpha. A missing cell is predicted by its row's
// cluster in the view of its column.
#pragma once

#include <memory>

#include "coppice/model/model.hpp"

namespace coppice::crosscat {

std::unique_ptr<Predictor> make_predictor(const Problem& problem);

}  // namespace coppice::crosscat
