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

/// What blocks and states of a run can hold at most, so that sizes in a file are believed only within it.
struct BlockLimits {
  std::size_t traces = 4096;                  // values of a draw
  std::size_t labels = std::size_t{1} << 28;  // of a draw
  std::size_t state = std::size_t{1} << 36;   // bytes of a state, or of what a draw carries besides labels
};

struct Checkpoint {
  std::size_t chain = 0;
  std::size_t sweep = 0;
  std::string state;
};

}  // namespace coppice
