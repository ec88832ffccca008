// Exact greedy cross-clustering: among all pairs of views the one of largest log odds
//   log kappa(|a| + |b|) + LB(columns of a and b) - log phi(a) - log phi(b)
// is merged repeatedly until one is left (ties: the pair with the smallest first columns).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "coppice/cluster/agglomeration.hpp"
#include "coppice/model/bhcc/column_forest.hpp"
#include "coppice/model/bhcc/pair_bounds.hpp"

namespace coppice::bhcc {

class ColumnMerging final : private MergedItems {
 public:
  using Node = ColumnForest::Node;

  /// Both must outlive it. `roots` are trees of the forest, by their first columns; they must not change
  /// elsewhere until the merging is finished.
  ColumnMerging(const ViewTrees& trees, ColumnForest& forest, std::span<const Node> roots);

  bool finished() const { return loop_.finished(); }
  /// Units that were done before the first merge; after it, as many as a merging that begins with the trees
  /// of now would have to do.
  std::size_t prepared() const;
  /// One unit. The node of the merge, or kNone.
  Node step();
  /// To the end; the last node that was made, or the only root.
  Node run(const std::function<void(Node)>& on_merge = {});

 private:
  void scores(std::size_t position, std::size_t begin, std::size_t end, double* out) override;
  Node merge(std::size_t first, std::size_t second) override;
  void compact(std::span<const std::size_t> kept) override;

  ColumnForest* forest_;
  std::unique_ptr<PairBounds> bounds_;
  std::size_t units_left_;  // of bounds_
  Agglomeration loop_;
  std::vector<Node> nodes_;         // by position
  std::vector<std::size_t> slots_;  // of bounds_, by position
  std::vector<std::size_t> others_;
  std::vector<double> found_;
};

}  // namespace coppice::bhcc
