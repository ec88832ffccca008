// Discriminants and hinges. Every node but the root has a discriminant eta ~ N(0, sd^2 I); a row at node v
// pays if a sibling z scores it nearly as high: rho = margin - (eta_v - eta_z)'y. For each row and level the
// own score and the best sibling's are kept, so that a row's hinge is a look at `depth` pairs of numbers and
// a sibling that appears or goes changes one of them.
//
// The feature y of a row is the row itself in the units of the data, with a category spread over one cell for
// each of its levels, a missing cell replaced by the mean of the present ones (it takes no side), and a
// constant 1 behind it all with --intercept. With gates in place of hinges (gates.hpp) the cells are
// standardized, divided by the root of their number so that the mean squared length is one, and always have
// the constant: the target does not depend on the units of the columns. With evidence (evidence.hpp) they are
// standardized too, and there is no constant. What gates and evidence have in common is asked for under the
// name of splits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "coppice/base/aligned.hpp"
#include "coppice/base/lanes.hpp"
#include "coppice/base/rng.hpp"
#include "coppice/model/model.hpp"
#include "coppice/model/rbhmc/evidence.hpp"
#include "coppice/model/rbhmc/gates.hpp"
#include "coppice/model/rbhmc/options.hpp"
#include "coppice/shape/level_tree.hpp"

namespace coppice::rbhmc {

/// Own and best sibling's score of one row at every level, from level 1; best is minus infinity where the
/// node has no sibling.
struct LevelScores {
  explicit LevelScores(std::size_t depth) : own(depth), best(depth), rival(depth) {}
  std::vector<double> own, best;
  std::vector<NodeId> rival;
};

class Margins {
 public:
  Margins(const Problem& problem, const Options& options);

  /// Whether hinges matter at all; without a penalty nothing here is kept up to date but the discriminants.
  bool active() const { return penalty_ > 0.0; }
  double penalty() const { return penalty_; }
  void set_penalty(double penalty) { penalty_ = penalty; }
  double margin() const { return margin_; }
  double sd() const { return sd_; }
  void set_sd(double sd) { sd_ = sd; }
  bool centered() const { return centered_; }
  /// Whether rows have gates instead of hinges. Then own, best, rival and hinge of rows are not kept.
  bool gated() const { return gated_; }
  const Gates& gates() const { return gates_; }
  Gates& gates() { return gates_; }
  /// Whether splits have evidence instead.
  bool by_evidence() const { return by_evidence_; }
  const SplitEvidence& evidence() const { return evidence_; }
  /// Whether discriminants have a say in the target.
  bool has_discriminants() const { return active() && !by_evidence_; }

  // Rewards of splits, gates or evidence, which are kept by node.
  bool rewards_splits() const { return gated_ || by_evidence_; }
  /// A node has come, without rows, or its discriminant is another one.
  void set_node(NodeId node);
  /// What is kept about the children of a node, after rows or nodes have moved; where it is done for several
  /// nodes, the lower ones come first.
  void refresh_split(const LevelTree& tree, NodeId parent);
  /// The log reward of a node's split, from what is kept; the penalty is its power.
  double log_reward(const LevelTree& tree, NodeId parent) const;
  /// To be called before the row is taken out of its leaf, and after it has been put into one.
  void row_leaves(const LevelTree& tree, std::size_t row);
  void row_came(const LevelTree& tree, std::size_t row);
  FeatureRows feature_rows() const { return {features_.data(), stride_, rows_->size()}; }

  /// Recomputes the features from the rows.
  void data_changed();
  /// The features of one row that has no missing cell.
  void row_changed(std::size_t row);
  std::size_t dimension() const { return dimension_; }
  std::size_t stride() const { return stride_; }
  const double* feature(std::size_t row) const { return features_.data() + row * stride_; }
  /// dimension() numbers, padded with zeros to stride().
  const double* eta(NodeId node) const { return eta_.data() + node * stride_; }
  double* eta(NodeId node) { return eta_.data() + node * stride_; }
  double score(const double* eta, std::size_t row) const { return dot(eta, feature(row)); }
  double dot(const double* a, const double* b) const { return coppice::dot(a, b, stride_); }

  /// Room for the tree's nodes.
  void fit(const LevelTree& tree);
  /// The tree has no rows.
  void clear();
  void draw_prior(Stream& stream, double* eta) const;
  double log_prior_ratio(const double* eta) const;  // log N(eta; 0, sd^2 I) without its constant

  /// The row's scores on the path of a node; with `eta_new`, on the path of a new child of the node.
  void scores_at(std::size_t row, const LevelTree& tree, NodeId node, const double* eta_new,
                 LevelScores& scores) const;
  /// The hinge of a row with these scores: max over levels, or their centered sum.
  double hinge(const double* own, const double* best) const;
  double hinge(const LevelScores& scores) const { return hinge(scores.own.data(), scores.best.data()); }
  double hinge(std::size_t row) const { return hinge(own(row), best(row)); }
  double* own(std::size_t row) { return own_.data() + row * depth_; }
  double* best(std::size_t row) { return best_.data() + row * depth_; }
  NodeId* rival(std::size_t row) { return rival_.data() + row * depth_; }
  const double* own(std::size_t row) const { return own_.data() + row * depth_; }
  const double* best(std::size_t row) const { return best_.data() + row * depth_; }
  const NodeId* rival(std::size_t row) const { return rival_.data() + row * depth_; }

  /// Recomputes the row's stored scores at levels first .. last (1-based).
  void refresh_row(std::size_t row, const LevelTree& tree, std::size_t first, std::size_t last);
  void refresh_all(const LevelTree& tree);

  /// How much the hinges of the rows below `parent` grow by a new child with this discriminant.
  double increase(const LevelTree& tree, NodeId parent, const double* eta_new) const;
  /// Takes a new child of a node into the scores of the rows below the node that are not in the child.
  void child_added(const LevelTree& tree, NodeId child);
  /// Takes a childless, empty child out again, before it is removed from the tree; returns by how much the
  /// hinges of the others sink.
  double child_removed(const LevelTree& tree, NodeId child);

  /// What a row that is out of the tree would cost on the path of a node, or of a new child of it: its own
  /// hinge and, where `counts_others`, what those of the other rows gain by a new child. Where splits are
  /// rewarded, minus half of what all log rewards gain below level `above`; above it they would gain the same
  /// anywhere.
  double cost_at(std::size_t row, const LevelTree& tree, NodeId node, const double* eta_new,
                 bool counts_others, std::size_t above, LevelScores& scores) const;

  /// The log gates of a row, all levels together, each times its power, from features and discriminants
  /// alone; `bound` is what they would be if the discriminants placed the row with certainty.
  struct RowGates {
    double total = 0.0, bound = 0.0;
  };
  RowGates row_gates(std::size_t row, const LevelTree& tree) const;

  /// What the regularizer is made of, exp(-2 penalty total): the sum of all hinges, or minus half the sum of
  /// all log rewards; from tree and discriminants alone.
  double total_from_scratch(const LevelTree& tree) const;
  /// The same from what is kept.
  double total(const LevelTree& tree) const;

 private:
  std::size_t cells() const;
  void standardize();
  const Family* family_;
  const Rows* rows_;
  std::vector<std::size_t> category_levels_;
  std::size_t depth_, dimension_ = 0, stride_ = 0;
  double penalty_, margin_, sd_;
  bool centered_, gated_, by_evidence_, intercept_;
  std::vector<double> center_, scale_;  // of the features, where splits are rewarded
  std::vector<double> level_powers_;
  Gates gates_;
  SplitEvidence evidence_;
  AlignedVector features_, eta_;
  std::vector<double> own_, best_;
  std::vector<NodeId> rival_;
  mutable LevelScores scratch_;
};

}  // namespace coppice::rbhmc
