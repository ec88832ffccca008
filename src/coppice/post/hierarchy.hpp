// A tree of nested clusters as a value. The root is at level 0, the clusters of level 1 are below it, and so
// on to the leaves; every row is in one node of each level. The presentation tree omits redundant nodes: a
// node without siblings has the rows of its parent and is merged into it repeatedly, so that every node that
// branches has at least two children, leaves may be at different levels, and a single path becomes just a
// root.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "coppice/shape/partition.hpp"

namespace coppice {

/// A cluster of the tree.
struct HierarchyNode {
  /// The parent of the root.
  static constexpr std::size_t kNoParent = static_cast<std::size_t>(-1);

  std::size_t id = 0;                 // place among the nodes of the full tree; presentation trees keep it
  std::size_t parent = kNoParent;     // places in this tree, parents before children
  std::vector<std::size_t> children;  // places in this tree
  std::size_t level = 0;              // the coarsest level at which the tree has this set of rows
  std::size_t last_level = 0;         // the finest one; the same as `level` in a full tree
  std::vector<std::uint32_t> rows;    // ascending

  /// Number of rows.
  std::size_t size() const { return rows.size(); }
  /// Whether it is not divided further.
  bool is_leaf() const { return children.empty(); }
};

/// A tree of clusters over the rows.
struct Hierarchy {
  std::size_t rows = 0;              // of the table
  std::size_t levels = 0;            // below the root
  std::vector<HierarchyNode> nodes;  // the root first, then by level and cluster number

  /// The node of all rows.
  const HierarchyNode& root() const { return nodes.front(); }
};

/// How a node is described in drawings of the tree.
struct NodeCaption {
  std::string name;         // that a user gave it, or what distinguishes it from all other rows
  double exact = 0.0;       // posterior support: fraction of draws with exactly this cluster
  double overlap = 0.0;     // mean Jaccard overlap with the most similar cluster of a draw
  std::string number = {};  // "2.3", cluster 3 of level 2; none of the root
  std::string words = {};   // what distinguishes it, whatever its name

  /// "2.3 has_feathers"
  std::string title() const { return number.empty() ? name : number + " " + name; }
};

/// The labels of one level (1 = coarsest) within the labels of all levels, coarsest first.
inline std::span<const Label> level_of(std::span<const Label> labels, std::size_t rows, std::size_t level) {
  return labels.subspan((level - 1) * rows, rows);
}

/// The full tree of canonical labels: all levels one after the other, coarsest first. Error{bad_data} if a
/// cluster has rows of two clusters of the level above, or the labels do not fill whole levels.
Hierarchy make_hierarchy(std::span<const Label> labels, std::size_t rows);

/// The tree without nodes that have no sibling. A presentation tree is its own presentation tree.
Hierarchy presentation_tree(const Hierarchy& tree);

}  // namespace coppice
