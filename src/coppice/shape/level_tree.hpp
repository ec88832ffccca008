// A tree of fixed depth over rows: the root is at level 0, every row sits in a leaf at level `depth`, and
// only occupied nodes exist once a move is through. Nodes live in a pool; ids are reused, so values kept
// beside the tree can be indexed by id. All single-row updates cost O(depth) and allocate nothing but new
// children lists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "coppice/shape/partition.hpp"

namespace coppice {

using NodeId = std::uint32_t;

class LevelTree {
 public:
  static constexpr NodeId kRoot = 0;
  static constexpr NodeId kNone = static_cast<NodeId>(-1);

  LevelTree(std::size_t rows, std::size_t depth);

  std::size_t rows() const { return leaf_.size(); }
  std::size_t depth() const { return at_level_.size() - 1; }
  /// Every id is below this.
  std::size_t capacity() const { return parent_.size(); }
  std::size_t nodes() const { return parent_.size() - free_.size(); }

  NodeId parent(NodeId node) const { return parent_[node]; }
  std::size_t level(NodeId node) const { return level_[node]; }
  bool is_leaf(NodeId node) const { return level_[node] == depth(); }
  /// Rows below the node.
  std::size_t size(NodeId node) const { return size_[node]; }
  std::span<const NodeId> children(NodeId node) const { return children_[node]; }
  std::span<const NodeId> at_level(std::size_t level) const { return at_level_[level]; }
  /// Rows of a leaf.
  std::span<const std::uint32_t> members(NodeId leaf) const { return members_[leaf]; }
  /// The row's leaf; kNone if it is detached.
  NodeId leaf(std::size_t row) const { return leaf_[row]; }
  NodeId ancestor(NodeId node, std::size_t level) const {
    while (level_[node] > level) node = parent_[node];
    return node;
  }
  /// The deepest node that both are below, or one of the two.
  NodeId common_ancestor(NodeId a, NodeId b) const {
    while (a != b) {
      if (level_[a] >= level_[b])
        a = parent_[a];
      else
        b = parent_[b];
    }
    return a;
  }
  /// The ids of the node's ancestors from level 1 down to the node itself, written to path[0 ..].
  void path(NodeId node, std::span<NodeId> path) const {
    for (; level_[node] > 0; node = parent_[node]) path[level_[node] - 1] = node;
  }

  template <typename Visit>
  void for_each_row_below(NodeId node, Visit&& visit) const {
    if (is_leaf(node)) {
      for (const std::uint32_t row : members_[node]) visit(row);
      return;
    }
    for (const NodeId child : children_[node]) for_each_row_below(child, visit);
  }
  /// Appends the rows below the node.
  void rows_below(NodeId node, std::vector<std::uint32_t>& out) const {
    for_each_row_below(node, [&](std::uint32_t row) { out.push_back(row); });
  }

  /// Takes the row out of its leaf; nodes that it leaves empty stay until they are removed.
  void detach(std::size_t row);
  void attach(std::size_t row, NodeId leaf);
  /// A new, empty node.
  NodeId add_child(NodeId parent);
  /// Removes an empty node and its empty descendants.
  void remove(NodeId node);
  /// Hangs the node, with all below it, under another parent of the same level as its own.
  void move_subtree(NodeId node, NodeId new_parent);
  /// Takes a row from its leaf to another one.
  void move_row(std::size_t row, NodeId leaf) {
    detach(row);
    attach(row, leaf);
  }

  /// Only the root, with no rows.
  void clear();
  /// The tree with these labels: all levels one after the other, coarsest first. Nodes are numbered by level
  /// and first row, members are in ascending order: the state is a function of the labels.
  void assign(std::span<const Label> labels);
  /// Canonical labels of all levels.
  void labels(std::span<Label> labels) const;

 private:
  void unlink(NodeId node);
  void link(NodeId node, NodeId parent);

  std::vector<NodeId> parent_;
  std::vector<std::uint32_t> level_, size_;
  std::vector<std::uint32_t> place_among_children_, place_at_level_;
  std::vector<std::vector<NodeId>> children_;
  std::vector<std::vector<std::uint32_t>> members_;
  std::vector<NodeId> free_;
  std::vector<std::vector<NodeId>> at_level_;
  std::vector<NodeId> leaf_;
  std::vector<std::uint32_t> place_;  // of a row among the members of its leaf
};

}  // namespace coppice
