// What the chains of a run leave behind as they go: blocks of draws, and states to continue from.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "coppice/shape/partition.hpp"

namespace coppice {

/// Consecutive draws of one chain: `count` of them, beginning with draw `first`.
struct DrawBlock {
  std::size_t chain = 0;
  std::size_t block = 0;
  std::size_t first = 0;
  std::size_t count = 0;
  std::vector<double> traces;             // count x traces
  std::vector<Label> labels;              // count x levels x rows
  std::vector<std::string> payload = {};  // of each draw; none at all if the model has none
};

struct Checkpoint {
  std::size_t chain = 0;
  std::size_t sweep = 0;
  std::string state;
};

}  // namespace coppice
