// Gibbs updates of whole blocks: the rows that share a cluster with a given row and stand below a given node
// of a guide tree move together, to any cluster that has no row below that node, or to a cluster of their
// own. Row and node are chosen without regard to the partition, and after the move the block and its possible
// destinations are the same as before, so the draw is a Gibbs update within a class of partitions: it splits
// and merges without ever being refused.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coppice/base/aligned.hpp"
#include "coppice/base/rng.hpp"
#include "coppice/cluster/clusters.hpp"
#include "coppice/cluster/move_count.hpp"
#include "coppice/cluster/work.hpp"
#include "coppice/prior/product_partition.hpp"
#include "coppice/shape/row_tree.hpp"

namespace coppice::nrmm {

class BlockGibbs {
 public:
  BlockGibbs(const Family& family, const Rows& rows, const ProductPartition& prior);

  /// A row drawn uniformly and a node drawn uniformly from its leaf up to the root.
  void step(Clusters& clusters, const RowTree& guide, Stream& stream);
  /// The block of `row` among `below` (distinct rows, the row itself among them), which must have been chosen
  /// without regard to the partition.
  void step(Clusters& clusters, std::uint32_t row, std::span<const std::uint32_t> below, Stream& stream);

  const MoveCount& count() const { return count_; }
  void set_count(const MoveCount& count) { count_ = count; }
  Work work() const { return work_; }

 private:
  /// Statistics of the block and of the rows of its cluster that stay behind.
  void take_apart(const Clusters& clusters, Label own);

  const Family* family_;
  const Rows* rows_;
  const ProductPartition* prior_;
  std::vector<std::uint32_t> block_;
  std::vector<std::uint8_t> in_block_;
  std::vector<std::uint32_t> seen_;  // by slot: the number of the last move that met it below the node
  std::uint32_t move_ = 0;
  AlignedVector weights_;
  std::vector<double> block_stats_, rest_, merged_;
  Work work_ = 0;
  MoveCount count_;  // accepted: the partition has changed
};

}  // namespace coppice::nrmm
