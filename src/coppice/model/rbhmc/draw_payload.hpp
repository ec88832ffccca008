// What is kept with a draw beside its labels and traces: the component of every row, the component weights of
// inner nodes and the discriminants, in single precision, learned hyper-parameters, and the cells that were
// filled in, in single precision again.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "coppice/shape/level_tree.hpp"

namespace coppice::rbhmc {

struct DrawPayload {
  std::size_t components = 0;
  std::size_t dimension = 0;  // of discriminants
  Labels component_of;
  std::vector<double> weights;  // node x (components + 1); the last one is the remainder
  std::vector<double> eta;      // node x dimension
  std::vector<double> hyper;
  std::vector<double> cells;  // in the order of FilledRows

  std::span<const double> weights_of(NodeId node) const {
    return std::span(weights).subspan(node * (components + 1), components + 1);
  }
};

/// Details of the draw whose labels the tree was assigned; throws Error{bad_data} if they do not fit.
DrawPayload read_payload(std::string_view bytes, const LevelTree& tree, std::size_t hyper_size = 0,
                         std::size_t cells_size = 0);

}  // namespace coppice::rbhmc
