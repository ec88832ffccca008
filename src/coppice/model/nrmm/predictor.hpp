// Predictive density of new rows under a stored draw:
// p(x | draw) = [sum_c n_c p(x | X_c) + alpha m(x)] / (N + alpha) for the Dirichlet process and
// u / (N (1 + u)) [sum_c (n_c - sigma) p(x | X_c) + alpha sigma (1 + u)^sigma m(x)] for the normalized
// generalized gamma process.
#pragma once

#include <memory>

#include "coppice/model/model.hpp"

namespace coppice::nrmm {

/// Places of the traces in the order of ModelEntry::traces.
enum Trace : std::size_t {
  log_joint_trace,
  clusters_trace,
  entropy_trace,
  largest_share_trace,
  process_traces
};

std::unique_ptr<Predictor> make_predictor(const Problem& problem);

}  // namespace coppice::nrmm
