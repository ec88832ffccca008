// Answers from the tree of a greedy run: SciPy linkages, and membership probabilities of the clusters of its
// cut.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "coppice/post/consensus.hpp"
#include "coppice/post/linkage.hpp"
#include "coppice/post/predict.hpp"
#include "coppice/run/saved_run.hpp"
#include "coppice/shape/dendrogram.hpp"

namespace coppice {

/// The tree of a run, or the forest if it was stopped. Error{configuration} if its model has none.
Dendrogram row_tree_of(const SavedRun& run);

/// The trees over columns and rows of a run, columns in the order of the table. Error{configuration} if its
/// model has none.
CrossTree cross_tree_of(const SavedRun& run);

/// One tree of the forest. The height of a merge is -log of the probability that its items are one cluster,
/// or that of a merge below it if that is larger: it never decreases toward the root and is 0 where all is
/// certain. Blocks are merges of height 0 and infinite log odds.
struct TreeLinkage {
  Linkage linkage;
  std::vector<double> log_odds;      // of each merge of the linkage
  std::vector<std::uint32_t> items;  // that the leaves of the linkage are

  std::vector<std::string> names(std::span<const std::string> of_items) const;
  /// Of each merge: that all below it are one cluster.
  std::vector<double> probabilities() const;
};
/// Of each root, by their first items.
std::vector<TreeLinkage> tree_linkages(const Dendrogram& forest);

/// The consensus of a tree is its flat clusters; a row's confidence is the mean probability of being together
/// with the other rows of its cluster, or of being alone. Losses are NaN: one tree has no draws to compare
/// with.
Consensus tree_consensus(const Dendrogram& tree, std::span<const Label> clusters);

/// As membership() for draws, averaged over the partitions that cutting the tree can give.
std::vector<Membership> tree_membership(const Dendrogram& tree, std::span<const Label> consensus);

}  // namespace coppice
