// A forest of binary trees over items (rows or columns) with the log odds of every merge: what greedy
// clustering finds. Node i < items() is item i; nodes that are made follow in the order in which they are
// made, so every child has a smaller number than its parent. A leaf is an item, or a block of several items
// that are never taken apart. The left child is the one with the smallest item.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "coppice/base/byte_stream.hpp"

namespace coppice {

class Dendrogram {
 public:
  using Node = std::uint32_t;
  static constexpr Node kNone = static_cast<Node>(-1);

  explicit Dendrogram(std::size_t items = 0);

  /// A leaf of several items (ascending), none of which is below a node yet.
  Node block(std::span<const std::uint32_t> items);
  /// A node above two roots. The log odds are those of its items being one cluster against not.
  Node join(Node a, Node b, double log_odds);

  std::size_t items() const { return items_; }
  /// Items and made nodes.
  std::size_t nodes() const { return parent_.size(); }
  bool is_item(Node node) const { return node < items_; }
  bool is_leaf(Node node) const { return is_item(node) || made(node).left == kNone; }
  bool is_block(Node node) const { return !is_item(node) && made(node).left == kNone; }
  /// Of an item in a block: the block.
  Node parent(Node node) const { return parent_[node]; }
  Node left(Node node) const { return made(node).left; }
  Node right(Node node) const { return made(node).right; }
  std::size_t size(Node node) const { return is_item(node) ? 1 : made(node).size; }
  std::uint32_t first_item(Node node) const { return is_item(node) ? node : made(node).first_item; }
  /// Infinite for leaves.
  double log_odds(Node node) const {
    return is_item(node) ? std::numeric_limits<double>::infinity() : made(node).log_odds;
  }
  std::span<const std::uint32_t> block_items(Node node) const { return blocks_.at(node); }
  /// The leaf that holds an item.
  Node leaf_of(std::uint32_t item) const {
    return parent_[item] != kNone && is_block(parent_[item]) ? parent_[item] : item;
  }
  /// Nodes without a parent, by their first item.
  std::vector<Node> roots() const;
  bool is_tree() const { return roots().size() == 1; }

  /// Every item below a node, in the order of the leaves.
  template <typename Visit>
  void for_each_item(Node top, Visit&& visit) const {
    std::vector<Node> stack{top};
    while (!stack.empty()) {
      const Node node = stack.back();
      stack.pop_back();
      if (is_item(node)) {
        visit(node);
      } else if (is_block(node)) {
        for (const std::uint32_t item : blocks_.at(node)) visit(item);
      } else {
        stack.push_back(right(node));
        stack.push_back(left(node));
      }
    }
  }

  void save(ByteWriter& writer) const;
  /// Throws Error{bad_data} if the bytes are not a forest over this many items.
  static Dendrogram load(ByteReader& reader, std::size_t items);

 private:
  struct Made {
    Node left = kNone, right = kNone;
    std::uint32_t size = 0, first_item = 0;
    double log_odds = 0.0;
  };
  const Made& made(Node node) const { return made_[node - items_]; }

  std::size_t items_;
  std::vector<Node> parent_;
  std::vector<Made> made_;
  std::map<Node, std::vector<std::uint32_t>> blocks_;
};

}  // namespace coppice
