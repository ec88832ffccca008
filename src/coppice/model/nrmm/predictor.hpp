// Predictive density of new rows under a stored draw:
// p(x | draw) = [sum_c n_c p(x | X_c) + alpha m(x)] / (N + alpha).
#pragma once

#include <memory>

#include "coppice/model/model.hpp"

namespace coppice::nrmm {

/// Places of the traces in the order of ModelEntry::traces.
enum Trace : std::size_t { log_joint_trace, clusters_trace, entropy_trace, largest_share_trace, alpha_trace };

std::unique_ptr<Predictor> make_predictor(const Problem& problem);

}  // namespace coppice::nrmm
