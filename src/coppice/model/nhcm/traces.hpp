// Places of the traces in the order of ModelEntry::traces.
#pragma once

#include <cstddef>

namespace coppice::nhcm {

enum Trace : std::size_t {
  log_joint_trace,
  clusters_trace,
  subclusters_trace,
  entropy_1_trace,
  entropy_2_trace,
  alpha_clusters_trace,
  alpha_subclusters_trace,
  spread_trace,
};

}  // namespace coppice::nhcm
