// The chain: replicas at several powers of the posterior, of which the first is the chain's state, with
// exchanges between neighbors after every sweep.
#pragma once

#include <memory>

#include "coppice/model/model.hpp"

namespace coppice::crosscat {

/// Places of the traces in the order of ModelEntry::traces.
enum Trace : std::size_t {
  log_joint_trace,
  clusters_trace,  // of the rows, in the view with most columns
  views_trace,
  column_entropy_trace,  // of the partition of the columns, nats
  mean_clusters_trace,   // row clusters, averaged over the columns
  alpha_rows_trace,      // both only if one of them is learned
  alpha_columns_trace,
};

std::unique_ptr<Inference> make_inference(const Problem& problem);
std::size_t chain_bytes(const Problem& problem);
Views views_of(const Problem& problem, std::string_view payload);

}  // namespace coppice::crosscat
