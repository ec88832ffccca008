// A rooted binary tree whose leaves are rows: node i < rows() is the leaf of row i, inner nodes follow. Once
// finished, the rows below a node stand next to each other in order().
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace coppice {

class RowTree {
 public:
  using Node = std::uint32_t;
  static constexpr Node kNone = static_cast<Node>(-1);

  explicit RowTree(std::size_t rows = 0);

  /// A new inner node over two nodes that have no parent yet.
  Node join(Node left, Node right);
  /// Computes order, intervals and depths; every row must be below the last node that was joined (or be the
  /// only one).
  void finish();

  std::size_t rows() const { return rows_; }
  std::size_t nodes() const { return parent_.size(); }
  Node root() const { return root_; }
  bool is_leaf(Node node) const { return node < rows_; }
  Node parent(Node node) const { return parent_[node]; }
  Node left(Node node) const { return left_[node - rows_]; }
  Node right(Node node) const { return right_[node - rows_]; }
  Node sibling(Node node) const {
    const Node above = parent_[node];
    return left(above) == node ? right(above) : left(above);
  }
  /// Steps from the root.
  std::size_t depth(Node node) const { return depth_[node]; }
  /// The node that is `steps` above.
  Node ancestor(Node node, std::size_t steps) const {
    for (; steps > 0; --steps) node = parent_[node];
    return node;
  }

  /// All rows, in the order of the leaves.
  std::span<const std::uint32_t> order() const { return order_; }
  /// The rows below a node: a part of order().
  std::span<const std::uint32_t> rows_below(Node node) const {
    return std::span<const std::uint32_t>(order_).subspan(first_[node], end_[node] - first_[node]);
  }
  std::size_t position(std::uint32_t row) const { return first_[row]; }
  bool is_below(std::uint32_t row, Node node) const {
    return first_[row] >= first_[node] && first_[row] < end_[node];
  }
  /// The lowest node above both rows.
  Node common_ancestor(std::uint32_t a, std::uint32_t b) const {
    Node node = a;
    while (!is_below(b, node)) node = parent_[node];
    return node;
  }

  static std::size_t bytes(std::size_t rows) { return rows * (5 * 2 + 1) * sizeof(Node); }

 private:
  std::size_t rows_;
  Node root_ = kNone;
  std::vector<Node> parent_;
  std::vector<Node> left_, right_;  // of inner nodes
  std::vector<std::uint32_t> depth_, first_, end_, order_;
};

}  // namespace coppice
