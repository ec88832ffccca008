// Places of the fixed traces in the order of ModelEntry::traces; clusters and entropies of the levels follow.
#pragma once

#include <cstddef>

namespace coppice::rbhmc {

enum Trace : std::size_t {
  log_joint_trace,
  cdll_c_trace,
  rcdll_trace,
  cdll_trace,
  hinge_trace,
  components_trace,
  root_remainder_trace,
  alpha_trace,
  gamma_trace,
  gamma0_trace,
  fixed_traces
};

}  // namespace coppice::rbhmc
