// Split and merge of two clusters, led by a guide tree: the two anchors are a row and a row from across one
// of its ancestors, and the pair starts from the guide's own division. Choice of anchors and start depend on
// the guide, the anchors and the union of the two clusters alone, so the move needs no correction beside the
// last scan's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coppice/cluster/split_merge.hpp"
#include "coppice/prior/product_partition.hpp"
#include "coppice/shape/row_tree.hpp"

namespace coppice::nrmm {

class GuidedSplitMerge final : private Launch {
 public:
  /// `scans` restricted Gibbs scans come between the guide's division and the proposal.
  GuidedSplitMerge(const Family& family, const Rows& rows, const ProductPartition& prior, std::size_t scans);

  void step(Clusters& clusters, const RowTree& guide, Stream& stream);

  Work work() const { return split_merge_.work() + work_; }
  SplitMerge& split_merge() { return split_merge_; }
  const SplitMerge& split_merge() const { return split_merge_; }

 private:
  /// What stands below the two children of the lowest common ancestor is divided as the guide does; going up
  /// from there, the rows below each sibling join either group as one block, with the groups' weights.
  void start(RestrictedPair& pair, std::uint32_t anchor_a, std::uint32_t anchor_b,
             std::span<const std::uint32_t> items, Stream& stream) override;

  const Family* family_;
  const Rows* rows_;
  const ProductPartition* prior_;
  SplitMerge split_merge_;
  const RowTree* guide_ = nullptr;
  std::vector<std::uint32_t> by_position_;  // places in `items`, in the order of the guide's leaves
  std::vector<std::uint8_t> sides_;
  std::vector<double> groups_, block_, merged_;
  Work work_ = 0;
};

}  // namespace coppice::nrmm
