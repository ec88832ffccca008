// A forest of binary trees whose leaves are rows, or blocks of rows that stay together. Every node carries
// the statistics of the rows c below it and the log potentials of Bayesian hierarchical clustering, with h(c)
// = kappa(n_c) m(X_c) and children l, r:
//   leaf:  phi = h(c)
//   inner: phi = h(c) + phi(l) phi(r),   d = phi(l) phi(r) / h(c),   h(c) / phi = 1 / (1 + d).
// phi is the sum of prod h over all partitions that cutting the tree can give; d > 1 says that the two
// children rather belong apart. The left child is the one with the smaller first row and statistics are
// always merged from the two children, so every number is a function of the tree's shape, bit for bit,
// whatever changes led to it. Nodes are reused after they are released; nothing recurses, so a tree may be as
// deep as it has rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "coppice/family/family.hpp"
#include "coppice/family/rows.hpp"
#include "coppice/prior/product_partition.hpp"

namespace coppice {

class MergeTree {
 public:
  using Node = std::uint32_t;
  static constexpr Node kNone = static_cast<Node>(-1);

  /// The three must outlive the forest.
  MergeTree(const Family& family, const Rows& rows, const ProductPartition& prior);

  /// A new tree of one row.
  Node leaf(std::uint32_t row);
  /// A new tree that is a single leaf of several rows (ascending).
  Node block(std::span<const std::uint32_t> rows);
  /// A new node above two roots.
  Node join(Node a, Node b);

  struct Insertion {
    Node root;   // of the tree that now holds both
    Node above;  // the new node
  };
  /// Puts the tree `x` beside a node of `tree` (both are roots): from the root downwards to the child that is
  /// nearer to x, until a node's children are nearer to each other than either is to x. If `tree` is a single
  /// row it is put into x instead.
  Insertion seq_insert(Node tree, Node x);
  /// Makes a subtree a tree of its own; its sibling takes the place of its parent. Returns the root of the
  /// tree it left, kNone if it was one already.
  Node detach(Node node);
  /// Makes a subtree a tree of its own and cuts off everything beside its path to the root: those subtrees,
  /// lowest first, are appended to `beside`, and the nodes of the path are released.
  void cut(Node node, std::vector<Node>& beside);
  /// A second tree of the same shape over the same rows.
  Node copy(Node root);
  void release(Node root);
  /// Only the node above two trees is released; its children become roots.
  void release_join(Node root);
  void clear();
  /// Recomputes all weights and potentials after parameters of the prior have changed.
  void refresh();

  bool is_leaf(Node node) const { return nodes_[node].left == kNone; }
  bool is_root(Node node) const { return nodes_[node].parent == kNone; }
  Node parent(Node node) const { return nodes_[node].parent; }
  Node left(Node node) const { return nodes_[node].left; }
  Node right(Node node) const { return nodes_[node].right; }
  Node sibling(Node node) const {
    const Links& above = nodes_[nodes_[node].parent];
    return above.left == node ? above.right : above.left;
  }
  Node root_of(Node node) const;
  /// Rows below the node, and the smallest of them (of a leaf: its row).
  std::uint32_t count(Node node) const { return nodes_[node].count; }
  std::uint32_t first_row(Node node) const { return nodes_[node].first_row; }
  const double* stats(Node node) const { return stats_.data() + node * stats_size_; }
  /// log h and log phi.
  double log_weight(Node node) const { return potentials_[node].log_weight; }
  double log_phi(Node node) const { return potentials_[node].log_phi; }
  /// log d of the node's children; minus infinity for a leaf.
  double log_d(Node node) const;

  /// log h of the rows of both trees together; `scratch` has room for stats_size() doubles.
  double log_weight_joined(Node a, Node b, double* scratch) const;
  double log_weight_joined(Node a, Node b) { return log_weight_joined(a, b, scratch_.data()); }
  /// log d(a, b) = log phi(a) phi(b) / h(a and b), as if the two trees were children of one node.
  double log_d(Node a, Node b) { return log_phi(a) + log_phi(b) - log_weight_joined(a, b); }
  /// log h(a) h(b) / h(a and b): a function of the two sets of rows alone.
  double log_d_flat(Node a, Node b) { return log_weight(a) + log_weight(b) - log_weight_joined(a, b); }

  /// Every node of a subtree before its children, left before right; `visit` must not change the forest.
  template <typename Visit>
  void for_each_node(Node top, Visit&& visit) const;
  /// Every node of a subtree after its children, left before right. A node may be released when it is
  /// visited.
  template <typename Visit>
  void for_each_node_upwards(Node top, Visit&& visit) const;
  /// The rows below a node, from left to right.
  template <typename Visit>
  void for_each_row(Node top, Visit&& visit) const {
    for_each_node(top, [&](Node node) {
      if (!is_leaf(node)) return;
      if (count(node) == 1) {
        visit(first_row(node));
      } else {
        for (const std::uint32_t row : blocks_.at(node)) visit(row);
      }
    });
  }

  std::size_t stats_size() const { return stats_size_; }
  /// Nodes in use.
  std::size_t nodes() const { return nodes_.size() - free_.size(); }
  /// Reserves room for this many nodes.
  void reserve(std::size_t nodes);
  static std::size_t bytes(const Family& family, std::size_t nodes);
  /// Throws Error{bug} unless links, counts, statistics and potentials of all nodes agree with each other.
  void audit() const;

 private:
  struct Links {
    Node parent = kNone, left = kNone, right = kNone;
    std::uint32_t count = 0;  // 0: not in use
    std::uint32_t first_row = 0;
  };
  struct Potentials {
    double log_marginal = 0.0, log_weight = 0.0, log_phi = 0.0;
  };

  Node allocate();
  void free(Node node);
  Node leftmost(Node node) const {
    while (!is_leaf(node)) node = left(node);
    return node;
  }
  double* mutable_stats(Node node) { return stats_.data() + node * stats_size_; }
  void link(Node above, Node a, Node b);
  /// Puts `fresh` in the place that `old` has below `above`, which may be kNone.
  void replace_child(Node above, Node old, Node fresh);
  void update(Node node);       // an inner node from its children
  void update_from(Node node);  // the node and everything above it; kNone: nothing
  void weigh(Node node);        // weight and potential from the marginal
  double log_phi_of_children(Node node) const {
    return potentials_[nodes_[node].left].log_phi + potentials_[nodes_[node].right].log_phi;
  }

  const Family* family_;
  const Rows* rows_;
  const ProductPartition* prior_;
  std::size_t stats_size_;
  std::vector<Links> nodes_;
  std::vector<Potentials> potentials_;
  std::vector<double> stats_;
  std::vector<double> scratch_;
  std::vector<Node> free_;
  std::map<Node, std::vector<std::uint32_t>> blocks_;  // rows of leaves that have several
};

template <typename Visit>
void MergeTree::for_each_node(Node top, Visit&& visit) const {
  for (Node node = top;;) {
    visit(node);
    if (!is_leaf(node)) {
      node = left(node);
      continue;
    }
    while (node != top && right(parent(node)) == node) node = parent(node);
    if (node == top) return;
    node = right(parent(node));
  }
}

template <typename Visit>
void MergeTree::for_each_node_upwards(Node top, Visit&& visit) const {
  for (Node node = leftmost(top); node != top;) {
    const Node above = parent(node);
    const Node next = left(above) == node ? leftmost(right(above)) : above;
    visit(node);
    node = next;
  }
  visit(top);
}

}  // namespace coppice
