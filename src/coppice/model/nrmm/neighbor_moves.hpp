// Moves between a cluster and a neighbor. A row is drawn uniformly, and with equal probability its cluster is
// split, merged with a neighbor, or divided again between itself and a neighbor. The neighbor is drawn with
// the Gibbs weights of the row over the other clusters, mixed with a share that goes by their sizes: among
// many clusters this finds the few that it makes sense to merge, and a third of the moves are splits, where
// two random rows would nearly always be apart. The other anchor is a row of the neighbor (of the own
// cluster, if it is split) drawn uniformly. Other than in split_merge.hpp, the choice depends on the
// partition, so the ratio has the probability of choosing the same anchors in the other direction.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "coppice/base/aligned.hpp"
#include "coppice/cluster/clusters.hpp"
#include "coppice/cluster/move_count.hpp"
#include "coppice/cluster/split_merge.hpp"
#include "coppice/prior/product_partition.hpp"

namespace coppice::nrmm {

class NeighborMoves {
 public:
  /// `scans` restricted Gibbs scans come between the sequential launch and the proposal.
  NeighborMoves(const Family& family, const Rows& rows, const ProductPartition& prior, std::size_t scans);

  void step(Clusters& clusters, Stream& stream);

  const MoveCount& splits() const { return splits_; }
  const MoveCount& merges() const { return merges_; }
  const MoveCount& divisions() const { return divisions_; }
  Work work() const { return work_ + pair_.work(); }
  void set_counts(const MoveCount& splits, const MoveCount& merges, const MoveCount& divisions) {
    splits_ = splits;
    merges_ = merges;
    divisions_ = divisions;
  }

 private:
  struct Neighbor {
    Label label;
    double log_probability;
  };

  bool split(Clusters& clusters, Stream& stream);
  bool merge(Clusters& clusters, Stream& stream);
  bool divide(Clusters& clusters, Stream& stream);

  /// Fills in the weights of the neighbors of the row, without its own cluster.
  void weigh_neighbors(const Clusters& clusters);
  std::optional<Neighbor> draw_neighbor(const Clusters& clusters, Stream& stream);
  /// Of choosing the cluster with these weights, which has `size` rows, if the row's own has `own_size`.
  double log_probability_of(std::size_t slot, std::size_t size, std::size_t own_size) const;
  /// A row of the cluster other than the first anchor.
  std::uint32_t draw_member(const Clusters& clusters, Label label, Stream& stream) const;
  void launch(const Clusters& clusters, Label neighbor, std::uint32_t other, Stream& stream);
  /// Rows of the launch, as they are divided now.
  void remember_sides(const Clusters& clusters);
  /// Leaves in `items_` those on the second side, and its anchor.
  void keep_second(std::span<const std::uint8_t> sides);
  double log_weight(const Clusters& clusters, Label label) const;
  double log_weight_of_group(std::size_t group) const;

  const Family* family_;
  const ProductPartition* prior_;
  std::size_t scans_;
  std::size_t rows_;
  RestrictedPair pair_;
  AlignedVector weights_;
  std::size_t slots_ = 0;  // that have a weight
  std::vector<std::uint32_t> items_;
  std::vector<std::uint8_t> sides_, proposed_;
  std::vector<double> merged_;
  // Of the move under way.
  std::uint32_t row_ = 0, other_ = 0;
  Label own_ = 0;
  double log_uniform_ = 0.0;
  Work work_ = 0;
  MoveCount splits_, merges_, divisions_;
};

}  // namespace coppice::nrmm
