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

  const MoveCount& splits() const { return splits_; }
  const MoveCount& merges() const { return merges_; }
  void set_counts(const MoveCount& splits, const MoveCount& merges) {
    splits_ = splits;
    merges_ = merges;
  }

 private:
  /// A set of rows by its statistics.
  struct Group {
    std::vector<double> stats;
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
  };

  double log_weight_of(const double* stats, std::size_t size) const;
  double log_d(const Group& a, const Group& b);
  /// log probability of drawing group `chosen` of `count` and then gathering exactly the other `gathered`,
  /// none of `rest`.
  double log_pick(const Group& chosen, std::span<const Group* const> gathered,
                  std::span<const Group* const> rest, std::size_t count);
  double log_sum_of_picks(std::span<const Group* const> gathered, std::span<const Group* const> rest,
                          std::size_t count);
  void induce(const RowTree& guide, std::span<const std::uint32_t> rows);
  /// Goes up from the children of `start`. `choose` is given the log probabilities of the groups so far and,
  /// last, of a new one, and a node; it returns its choice. Returns the log probability of all choices.
  template <typename Choose>
  double gather(std::uint32_t start, Choose&& choose);
  void split(Clusters& clusters, const RowTree& guide, Stream& stream, Label cluster);
  void merge(Clusters& clusters, const RowTree& guide, Stream& stream, std::span<const Label> gathered);
  /// log probability of the split that would give these labels back; minus infinity if none does.
  double log_split_into(const Clusters& clusters);
  void set_group(Group& group, const double* stats, std::size_t size) const;

  const Family* family_;
  const Rows* rows_;
  const ProductPartition* prior_;
  InducedTree tree_;
  std::vector<Group> groups_;            // of the split that is being drawn
  std::vector<std::uint32_t> group_of_;  // by node of the tree: the group that holds it, for path siblings
  std::vector<Group> clusters_;          // by slot
  std::vector<double> merged_;
  std::vector<std::uint32_t> members_;
  MoveCount splits_, merges_;
};

}  // namespace coppice::nrmm
