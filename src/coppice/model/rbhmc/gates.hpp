// Gates, the regularizer of information maximization. A row below child v of node p has
//   log g = s_v - log sum_u (n_u / n_p) exp(s_u),   s_u = eta_u'y, u over the children of p,
// where n_u counts all rows below u, the row itself among them. The target is multiplied by the product over
// rows and levels l of g^(C power_l): an only child has g = 1, siblings that the discriminants do not
// separate have g near 1, and a row that they place with certainty has n_p / n_v, what the nested Chinese
// restaurant process charged for its path. A row that comes or goes changes the counts and so the gates of
// all rows below its nodes; the sums under the logarithms are kept for every row and level.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "coppice/base/aligned.hpp"
#include "coppice/shape/level_tree.hpp"

namespace coppice::rbhmc {

/// The features of all rows, each padded with zeros to the stride.
struct FeatureRows {
  const double* cells = nullptr;
  std::size_t stride = 0, count = 0;
  const double* operator[](std::size_t row) const { return cells + row * stride; }
};

class Gates {
 public:
  /// Scores beyond it count as it, so that no sum overflows. It is part of the target.
  static constexpr double kLargestScore = 300.0;

  /// `powers` has one for each level, from level 1.
  Gates(std::size_t rows, const std::vector<double>& powers);
  double power(std::size_t level) const { return powers_[level - 1]; }

  /// Room for the tree's nodes.
  void fit(std::size_t nodes);
  /// The node's discriminant is another one: its scores of all rows.
  void set_node(NodeId node, const double* eta, const FeatureRows& features);
  double score(NodeId node, std::size_t row) const { return scores_[node * stride_ + row]; }
  double weight(NodeId node, std::size_t row) const { return weights_[node * stride_ + row]; }

  /// The sums of the rows below a node, from the scores of its children.
  void refresh(const LevelTree& tree, NodeId parent);
  /// Sum of the log gates of the rows below a node between its children, from the kept sums, times the power
  /// of their level.
  double total(const LevelTree& tree, NodeId parent) const;
  double total(const LevelTree& tree) const;
  /// The sum of a row at a level (from 1).
  double sum(std::size_t level, std::size_t row) const { return sums_[(level - 1) * stride_ + row]; }

  /// To be called before the row is taken out of its leaf, and after it has been put into one.
  void row_leaves(const LevelTree& tree, std::size_t row);
  void row_came(const LevelTree& tree, std::size_t row);

  /// By how much the log gates of all rows grow, below level `above`, when the row, which is out of the tree,
  /// joins the path of `node`; with `eta_new`, the path of a new child of the node.
  double gain(const LevelTree& tree, std::size_t row, NodeId node, const double* eta_new,
              const FeatureRows& features, std::size_t above) const;

 private:
  double& sum_at(std::size_t level, std::size_t row) { return sums_[(level - 1) * stride_ + row]; }
  /// Log gates of all rows below the parent when the row joins a child of it; weight(row) = exp(score).
  template <typename Weight>
  double gain_at(const LevelTree& tree, NodeId parent, std::size_t row, double score,
                 const Weight& weight) const;

  std::size_t stride_;
  std::vector<double> powers_;
  AlignedVector scores_, weights_;  // node by node, for all rows
  AlignedVector sums_;              // level by level
};

/// A score as it counts in a gate.
double bounded_score(const double* eta, const double* feature, std::size_t stride);

}  // namespace coppice::rbhmc
