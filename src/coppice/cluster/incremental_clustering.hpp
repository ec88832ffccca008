// Incremental Bayesian hierarchical clustering: rows come in one by one. A row joins the tree with the
// smallest d(tree, row) if that is at most 1, else it becomes a tree of its own. Where an insertion has made
// the d of a node above it exceed 1, the tree is cut open there and the subtrees beside the path come in
// again as rows do. One pass, no random numbers: a way to begin, not a sampler.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coppice/cluster/merge_tree.hpp"

namespace coppice {

struct IncrementalClustering {
  MergeTree forest;
  std::vector<MergeTree::Node> roots;  // one for each cluster, by ascending first row
};

/// Clusters the rows listed in `order`, no row twice. Costs a few evaluations of a marginal for every cluster
/// and every level of a tree, for each row.
IncrementalClustering incremental_clustering(const Family& family, const Rows& rows,
                                             std::span<const std::uint32_t> order,
                                             const ProductPartition& prior);

}  // namespace coppice
