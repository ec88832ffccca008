// Expected losses of trees, and their improvement. The loss of a tree is the average of its levels' losses,
// so what a row costs in a leaf is the sum of what it costs in the leaf's ancestors (descent.hpp), and what
// it costs on a new branch is that of its ancestors there and of an empty cluster at each level below. No
// level gets more clusters than it had: where the draws agree on little, the VI would rather set every row
// apart, which no draw does.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "coppice/post/descent.hpp"
#include "coppice/post/draw_set.hpp"
#include "coppice/post/tree_draws.hpp"
#include "coppice/shape/partition.hpp"

namespace coppice {

/// Average over levels of the expected loss under evenly spaced draws. `draws` must outlive it.
class TreeLoss {
 public:
  TreeLoss(const TreeDraws& draws, Loss loss, std::size_t most_draws);

  /// Of nested canonical labels, all levels one after the other.
  double operator()(std::span<const Label> labels);

  std::size_t levels() const { return levels_.size(); }
  std::size_t rows() const;
  const DrawSet& draws(std::size_t level) const { return levels_[level]->draws; }
  ExpectedLoss& at(std::size_t level) { return levels_[level]->loss; }

 private:
  struct Level {
    DrawSet draws;
    ExpectedLoss loss;
    Level(const LabelMatrix& matrix, Loss kind, std::size_t most) : draws(matrix, most), loss(draws, kind) {}
  };
  std::vector<std::unique_ptr<Level>> levels_;
};

class TreeDescent {
 public:
  TreeDescent(const TreeDraws& draws, Loss loss, std::size_t most_draws);

  /// Lowers the loss of nested canonical labels in place until nothing helps or `work` (table cells that may
  /// still be read) is used up. Returns whether anything changed.
  bool improve(Labels& labels, double& work);

 private:
  bool build(std::span<const Label> labels);
  bool move_rows(Labels& labels, double& work);
  bool join_siblings(Labels& labels, double& work);
  /// The cheapest place of the row: labels of its path from the top, kNewNode from where a new branch starts.
  void find_place(std::size_t row);

  static constexpr std::size_t kNewNode = static_cast<std::size_t>(-1);

  TreeLoss loss_;
  std::vector<Descent> descents_;
  std::vector<std::vector<std::size_t>> slot_;    // level x row
  std::vector<std::vector<std::size_t>> parent_;  // level x slot: the slot of the level above
  std::vector<std::vector<double>> cost_;         // level x slot: of the row on the path down to the slot
  std::vector<std::size_t> most_clusters_;        // at each level
  std::vector<std::size_t> place_;                // what find_place found
  double gain_ = 0.0;                             // by how much it is cheaper than where the row is
};

}  // namespace coppice
