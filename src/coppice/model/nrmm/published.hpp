// Tree-guided MCMC as published, kept for comparison: it does NOT leave the posterior invariant. Its state is
// the partition and a tree for each cluster. A global move draws a cluster c and gathers every other cluster
// c' with probability 1 / (1 + d(c, c')). If none came, c is split at a node of its tree: the node's children
// are the first two parts, and the subtrees beside its path to the root are put into a part or become one.
// Else all that were gathered are merged into a cascade. A local move draws a subtree of each tree and
// updates its rows by Gibbs. Three mistakes are part of the method: rows to update are chosen by looking at
// the state, a split is not the reverse of a merge as a map of trees, and a merge counts only one of the ways
// to propose it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "coppice/base/byte_stream.hpp"
#include "coppice/base/rng.hpp"
#include "coppice/cluster/clusters.hpp"
#include "coppice/cluster/gibbs_sweep.hpp"
#include "coppice/cluster/merge_tree.hpp"
#include "coppice/cluster/move_count.hpp"
#include "coppice/prior/product_partition.hpp"

namespace coppice::nrmm {

/// Which node of a tree is drawn: with probability proportional to d + max d, where a leaf has d = 0. Since
/// the largest d is added to all, no node is more than twice as likely as another.
class SubtreeLaw {
 public:
  using Node = MergeTree::Node;
  enum class Eligible { all_nodes, inner_nodes };

  void reserve(std::size_t nodes);
  /// The nodes at and below `top`; inner nodes alone only if there are any.
  void set(const MergeTree& forest, Node top, Eligible eligible);

  std::span<const Node> nodes() const { return nodes_; }
  double probability(std::size_t i) const { return weights_[i] / total_; }
  /// The place of a node in nodes().
  std::size_t find(Node node) const;
  std::size_t draw(Stream& stream) const { return draw_categorical(stream, weights_); }

 private:
  std::vector<Node> nodes_;  // parents first, left before right
  std::vector<double> weights_;
  double total_ = 0.0;
};

class PublishedMoves {
 public:
  /// `moves` global moves in a step, then a local move of nested subtrees to the given depth (0: all rows).
  PublishedMoves(const Family& family, const Rows& rows, const ProductPartition& prior, std::size_t moves,
                 std::size_t depth);

  /// Rebuilds the trees for the clusters of a partition, adding their rows in ascending order.
  void start(const Clusters& clusters);
  /// `clusters` must be the partition of start() or of the step before; labels may have been renamed since.
  /// log_marginal_alone[i] is log m({x_i}).
  void step(Clusters& clusters, std::span<const double> log_marginal_alone, const StreamName& name);
  /// Recomputes the potentials; call it whenever a parameter of the prior has changed.
  void prior_changed() { forest_.refresh(); }

  /// The parts of a step.
  void global_move(Clusters& clusters, Stream& stream);
  void local_move(Clusters& clusters, std::span<const double> log_marginal_alone, Stream& stream);
  void update_row(Clusters& clusters, std::uint32_t row, double log_marginal_alone, Stream& stream);

  /// The shapes of the trees and the counts; everything else follows from them, to the last bit.
  void save(ByteWriter& writer) const;
  /// Throws Error{bad_data} unless the trees are those of these clusters.
  void load(ByteReader& reader, const Clusters& clusters);

  const MoveCount& splits() const { return splits_; }
  const MoveCount& merges() const { return merges_; }
  const MoveCount& row_updates() const { return gibbs_.count(); }
  void set_counts(const MoveCount& splits, const MoveCount& merges, const MoveCount& row_updates);

  /// Throws Error{bug} unless there is one sound tree for each cluster.
  void audit(const Clusters& clusters) const;
  static std::size_t bytes(const Family& family, std::size_t rows);

 private:
  using Node = MergeTree::Node;

  /// log probability that a cluster gathers another, or leaves it.
  double log_gather(Node a, Node b);
  double log_leave(Node a, Node b);
  void split(Clusters& clusters, Stream& stream, std::size_t picked, double log_forward);
  void merge(Clusters& clusters, Stream& stream, double log_forward);
  /// Log probabilities of putting `x` into each of the trees and, last, of leaving it to itself, in
  /// log_choice_.
  void weigh_insertion(std::span<const Node> trees, Node x);
  /// Draws a part for each subtree in beside_; returns the log probability of all choices.
  double distribute(Stream& stream);
  void set_leaves(Node root);
  void sort_roots();
  /// Whether the rows of the trees are those of the clusters.
  bool fits(const Clusters& clusters) const;

  const ProductPartition* prior_;
  std::size_t moves_, depth_;
  MergeTree forest_;
  std::vector<Node> roots_;    // of the clusters, by ascending first row: the order does not depend on labels
  std::vector<Node> leaf_of_;  // by row
  GibbsSweep gibbs_;
  MoveCount splits_, merges_;
  // Of the move under way.
  SubtreeLaw law_;
  std::vector<Node> gathered_, rest_, parts_, beside_, cascade_;
  std::vector<double> log_choice_, choice_;
  std::vector<std::uint32_t> picked_rows_;
};

}  // namespace coppice::nrmm
