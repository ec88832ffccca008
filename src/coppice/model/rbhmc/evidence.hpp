// Evidence of splits, a regularizer without discriminants. Every node has a Gaussian of its own for the
// features of the rows below it, all directions alike, of unknown mean and variance:
//   y ~ N(mean, variance I),  mean ~ N(0, variance / r I),  variance ~ inverse gamma,
// which are integrated out. The target is multiplied by, over nodes p with children v,
//   [ product over v of m(rows below v) / m(rows below p) ]^(C power of the level of v / number of cells):
// the Bayes factor of one Gaussian for each child against one for all, for each cell of a feature, so that C
// means the same however many columns there are. An only child has one. Below, log m is that of all cells
// over their number. With w_l the power of level l less that of level l + 1 (of the last level: its power)
// the log is the sum over nodes of w log m, less the root's: with equal powers only leaves would count. Every
// node keeps the number of its rows, the sum of their features and of their squares; features are
// standardized, so nothing cancels.
#pragma once

#include <cstddef>
#include <vector>

#include "coppice/base/aligned.hpp"
#include "coppice/model/rbhmc/gates.hpp"
#include "coppice/shape/level_tree.hpp"

namespace coppice::rbhmc {

class SplitEvidence {
 public:
  /// A set of rows as its density sees it.
  struct Group {
    double count = 0.0;
    double squares = 0.0;  // of the lengths of the features, their sum
    AlignedVector sum;
  };

  /// `powers` has one for each level, from level 1.
  SplitEvidence(std::size_t rows, std::size_t cells, std::size_t stride, const std::vector<double>& powers);

  /// Room for the tree's nodes.
  void fit(std::size_t nodes);
  /// A node without rows.
  void clear_node(NodeId node);
  /// What the children of a node sum up, from their own children or, if they are leaves, from their rows.
  void refresh(const LevelTree& tree, NodeId parent, const FeatureRows& features);
  void refresh_all(const LevelTree& tree, const FeatureRows& features);

  /// log Bayes factor of a node's children against the node, times the power of their level.
  double total(const LevelTree& tree, NodeId parent) const;
  double total(const LevelTree& tree) const;

  /// To be called before the row is taken out of its leaf, and after it has been put into one.
  void row_leaves(const LevelTree& tree, std::size_t row, const FeatureRows& features);
  void row_came(const LevelTree& tree, std::size_t row, const FeatureRows& features);
  /// By how much the total grows, below level `above`, when a row that is out of the tree joins the path of
  /// `node`, or of a new child of it.
  double gain(const LevelTree& tree, std::size_t row, NodeId node, bool is_branch,
              const FeatureRows& features, std::size_t above) const;

  // For proposals: groups of rows that are to be somewhere else.
  /// w_l above: what log m of a node of this level (from 1) counts.
  double weight(std::size_t level) const { return weights_[level - 1]; }
  double power(std::size_t level) const { return powers_[level - 1]; }
  void clear(Group& group) const;
  void add_row(Group& group, std::size_t row, const FeatureRows& features) const;
  void add_node(Group& group, NodeId node) const;
  /// log m of the rows of a group.
  double log_density(const Group& group) const;
  /// By how much log m of a node grows when the group joins it, or, if the node holds the group, has grown by
  /// it; and log m of a group when a node or a row joins it.
  double growth(NodeId node, const Group& joining, bool holds) const;
  double growth_by_node(const Group& group, NodeId joining) const;
  double growth_by_row(const Group& group, std::size_t row, const FeatureRows& features) const;

  /// Whether the kept sums of a node are these, but for rounding.
  bool is_near(NodeId node, const Group& group) const;

 private:
  /// `length` is the squared length of the sum. The constant of Gaussians is left out: it is the same for all
  /// trees.
  double log_density(double count, double squares, double length) const;
  double growth(double count, double squares, const double* sum, double by_count, double by_squares,
                const double* by_sum) const;
  double growth(NodeId node, const double* row, double squares) const;
  void change(NodeId node, const double* row, double sign);
  void set_value(NodeId node);
  const double* sum(NodeId node) const { return sums_.data() + node * stride_; }
  double* sum(NodeId node) { return sums_.data() + node * stride_; }

  std::size_t stride_;
  std::vector<double> powers_, weights_;
  std::vector<double> by_count_;  // what depends on the number of rows alone
  std::vector<double> counts_, squares_, lengths_, values_;
  AlignedVector sums_;
};

}  // namespace coppice::rbhmc
