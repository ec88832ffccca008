// Split of a cluster into several, and merge of several into one, as one Metropolis-Hastings move: the
// published global move of tree-guided MCMC made exact. A cluster c is drawn; every other cluster joins it
// for a merge with probability 1 / (1 + d(c, other)), d(a, b) = h(a) h(b) / h(a and b), a function of the two
// sets alone. If none does, c is split along the guide tree restricted to its rows: an inner node is drawn,
// its children are the first two groups, and the subtrees beside its path to the root join a group or found
// one. Given the cluster and the groups there is at most one way to draw them, so both directions have exact
// probabilities on partitions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coppice/base/rng.hpp"
#include "coppice/cluster/clusters.hpp"
#include "coppice/cluster/move_count.hpp"
#include "coppice/prior/product_partition.hpp"
#include "coppice/shape/row_tree.hpp"

namespace coppice::nrmm {

class Multiway {
 public:
  Multiway(const Family& family, const Rows& rows, const ProductPartition& prior);

  void step(Clusters& clusters, const RowTree& guide, Stream& stream);

  /// What moves of all rows at once take.
  static std::size_t bytes(const Family& family, std::size_t rows);

  const MoveCount& splits() const { return splits_; }
  const MoveCount& merges() const { return merges_; }
  void set_counts(const MoveCount& splits, const MoveCount& merges) {
    splits_ = splits;
    merges_ = merges;
  }

 private:
  /// A set of rows by its statistics, which are kept elsewhere.
  struct Set {
    const double* stats = nullptr;
    std::size_t size = 0;
    double log_weight = 0.0;  // log h
  };
  /// The guide restricted to some rows: leaves first, in the guide's order, then inner nodes upwards.
  struct InducedTree {
    std::vector<std::uint32_t> rows;
    std::vector<std::uint32_t> parent, left, right;
    std::vector<double> stats, log_weight;
    std::vector<std::uint32_t> size;
    std::size_t nodes = 0;
    std::vector<double> log_choice;  // of each inner node: log probability of being drawn
    std::vector<std::uint32_t> pending;
    std::vector<std::size_t> gaps;  // depths of the common ancestors between pending subtrees
  };

  /// Before the first move: room for trees of all rows.
  void make_room(const RowTree& guide);
  double log_weight_of(const double* stats, std::size_t size) const;
  double log_d(const Set& a, const Set& b);
  /// log probability of drawing set `chosen` of `count` and then gathering exactly the other `gathered`,
  /// none of `rest`.
  double log_pick(std::span<const Set> gathered, std::size_t chosen, std::span<const Set> rest,
                  std::size_t count);
  double log_sum_of_picks(std::span<const Set> gathered, std::span<const Set> rest, std::size_t count);
  void induce(const RowTree& guide, std::span<const std::uint32_t> rows);
  Set set_of(std::uint32_t node) const;
  /// Adds a group that holds the rows of this set.
  void open_group(const Set& first);
  /// Goes up from the children of `start`. `choose` is given the log probabilities of the groups so far and,
  /// last, of a new one, and a node; it returns its choice. Returns the log probability of all choices.
  template <typename Choose>
  double gather(std::uint32_t start, Choose&& choose);
  void split(Clusters& clusters, const RowTree& guide, Stream& stream, Label cluster);
  void merge(Clusters& clusters, const RowTree& guide, Stream& stream);
  /// log probability of the split that would give these labels back; minus infinity if none does.
  double log_split_into(const Clusters& clusters);

  const Family* family_;
  const Rows* rows_;
  const ProductPartition* prior_;
  // What follows is scratch, kept so that moves allocate nothing.
  InducedTree tree_;
  std::vector<Set> groups_;                       // of the split that is being drawn
  std::vector<std::vector<double>> group_stats_;  // of these, and room for more
  std::vector<std::uint32_t> group_of_;  // by node of the tree: the group that holds it, for path siblings
  std::vector<std::uint8_t> known_;      // by node: whether it has a group
  std::vector<Label> owner_;             // by node: the cluster that holds all its rows, if one does
  std::vector<Label> founders_;          // by group: the cluster it is
  std::vector<Label> slots_;             // in use
  std::vector<Label> gathered_;          // for a merge, the one that was drawn first
  std::vector<Set> clusters_;            // by slot
  std::vector<Set> parts_, rest_;
  std::vector<double> merged_, log_weights_, weights_;
  std::vector<std::uint32_t> members_;
  MoveCount splits_, merges_;
};

}  // namespace coppice::nrmm
