// Binary merge trees over n leaves in the numbering of SciPy: leaf i is node i, merge k makes node n + k,
// heights do not decrease. Average linkage (UPGMA) by the nearest-neighbor chain in O(n^2) time: the merge
// of clusters a and b is at distance (|a| d(a, c) + |b| d(b, c)) / (|a| + |b|) from any other cluster c
// (Lance and Williams 1967; Murtagh 1983).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "coppice/shape/partition.hpp"
#include "coppice/shape/row_tree.hpp"

namespace coppice {

struct Merge {
  std::size_t left = 0;   // the smaller node id
  std::size_t right = 0;  // the larger node id
  double height = 0.0;
  std::size_t size = 0;  // leaves below
  bool operator==(const Merge&) const = default;
};

struct Linkage {
  std::size_t leaves = 0;
  std::vector<Merge> merges;  // leaves - 1 of them, by non-decreasing height

  std::size_t nodes() const { return leaves + merges.size(); }
  bool is_leaf(std::size_t node) const { return node < leaves; }
  const Merge& merge(std::size_t node) const { return merges[node - leaves]; }
  double height(std::size_t node) const { return is_leaf(node) ? 0.0 : merge(node).height; }
  std::size_t size(std::size_t node) const { return is_leaf(node) ? 1 : merge(node).size; }
};

/// Throws Error{bug} unless ids, sizes and the order of heights are those of a complete merge tree.
void check_linkage(const Linkage& tree);

/// Average linkage of a full symmetric n x n matrix of dissimilarities (row-major; the diagonal is ignored).
Linkage average_linkage(std::vector<double> dissimilarity, std::size_t n);
Linkage average_linkage(std::vector<float> dissimilarity, std::size_t n);

/// The tree of 1 - similarity for a full n x n matrix of co-clustering probabilities.
Linkage coclustering_tree(std::span<const double> similarity, std::size_t n);

/// A tree over rows as merges; the height of a node is the number of steps to its deepest row.
Linkage linkage_of(const RowTree& tree);

/// (n - 1) x 4 row-major: left, right, height, size. What scipy.cluster.hierarchy takes and gives.
std::vector<double> to_scipy(const Linkage& tree);

/// Leaves from top to bottom of a drawing without crossings, the left child first (SciPy's leaves_list).
std::vector<std::size_t> leaf_order(const Linkage& tree);

/// The flat clusters after undoing the last merges: exactly min(clusters, n) of them; canonical labels.
Labels cut_into(const Linkage& tree, std::size_t clusters);
/// The flat clusters of all merges at height <= limit; canonical labels.
Labels cut_at(const Linkage& tree, double limit);

}  // namespace coppice
