// The draws of a hierarchy, level by level: what a tree to report is chosen from and judged by.
#pragma once

#include <cstddef>
#include <vector>

#include "coppice/run/saved_run.hpp"
#include "coppice/shape/partition.hpp"

namespace coppice {

/// Draws of nested partitions, level by level.
struct TreeDraws {
  struct Origin {
    std::size_t chain = 0;
    std::size_t draw = 0;
  };
  std::vector<LabelMatrix> levels;  // coarsest first
  std::vector<Origin> origins;

  std::size_t rows() const { return levels.front().rows; }
  std::size_t draws() const { return levels.front().draws(); }
  /// The labels of all levels of one draw, coarsest first.
  Labels tree(std::size_t draw) const;
};

/// Evenly spaced draws of all chains, at most `label_budget` labels in all.
TreeDraws tree_draws(const SavedRun& run, std::size_t label_budget = 100'000'000);

}  // namespace coppice
