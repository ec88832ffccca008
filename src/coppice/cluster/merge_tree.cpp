#include "coppice/cluster/merge_tree.hpp"

#include <algorithm>
#include <utility>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/cluster/tree_recursion.hpp"

namespace coppice {

MergeTree::MergeTree(const Family& family, const Rows& rows, const ProductPartition& prior)
    : family_(&family),
      rows_(&rows),
      prior_(&prior),
      stats_size_(family.stats_size()),
      scratch_(stats_size_) {}

void MergeTree::reserve(std::size_t nodes) {
  nodes_.reserve(nodes);
  potentials_.reserve(nodes);
  stats_.reserve(nodes * stats_size_);
  free_.reserve(nodes);
}

std::size_t MergeTree::bytes(const Family& family, std::size_t nodes) {
  return nodes * (sizeof(Links) + sizeof(Potentials) + sizeof(Node) + family.stats_size() * sizeof(double));
}

void MergeTree::clear() {
  nodes_.clear();
  potentials_.clear();
  stats_.clear();
  free_.clear();
  blocks_.clear();
}

MergeTree::Node MergeTree::allocate() {
  if (!free_.empty()) {
    const Node node = free_.back();
    free_.pop_back();
    nodes_[node] = {};
    return node;
  }
  const auto node = static_cast<Node>(nodes_.size());
  if (nodes_.size() == nodes_.capacity()) reserve(std::max<std::size_t>(16, 2 * nodes_.size()));
  nodes_.emplace_back();
  potentials_.emplace_back();
  stats_.resize(nodes_.size() * stats_size_);
  return node;
}

void MergeTree::free(Node node) {
  if (is_leaf(node) && count(node) > 1) blocks_.erase(node);
  nodes_[node].count = 0;
  free_.push_back(node);
}

MergeTree::Node MergeTree::leaf(std::uint32_t row) {
  const Node node = allocate();
  nodes_[node].count = 1;
  nodes_[node].first_row = row;
  family_->clear(mutable_stats(node));
  family_->add(mutable_stats(node), (*rows_)[row]);
  potentials_[node].log_marginal = family_->log_marginal(stats(node));
  weigh(node);
  return node;
}

MergeTree::Node MergeTree::block(std::span<const std::uint32_t> rows) {
  if (rows.size() == 1) return leaf(rows.front());
  const Node node = allocate();
  nodes_[node].count = static_cast<std::uint32_t>(rows.size());
  nodes_[node].first_row = rows.front();
  blocks_.insert_or_assign(node, std::vector<std::uint32_t>(rows.begin(), rows.end()));
  family_->clear(mutable_stats(node));
  for (const std::uint32_t row : rows) family_->add(mutable_stats(node), (*rows_)[row]);
  potentials_[node].log_marginal = family_->log_marginal(stats(node));
  weigh(node);
  return node;
}

MergeTree::Node MergeTree::join(Node a, Node b) {
  const Node above = allocate();
  link(above, a, b);
  update(above);
  return above;
}

void MergeTree::link(Node above, Node a, Node b) {
  nodes_[above].left = a;
  nodes_[above].right = b;
  nodes_[a].parent = nodes_[b].parent = above;
}

void MergeTree::replace_child(Node above, Node old, Node fresh) {
  nodes_[fresh].parent = above;
  if (above == kNone) return;
  (nodes_[above].left == old ? nodes_[above].left : nodes_[above].right) = fresh;
}

void MergeTree::update(Node node) {
  Links& links = nodes_[node];
  if (nodes_[links.right].first_row < nodes_[links.left].first_row) std::swap(links.left, links.right);
  links.first_row = nodes_[links.left].first_row;
  links.count = nodes_[links.left].count + nodes_[links.right].count;
  std::copy_n(stats(links.left), stats_size_, mutable_stats(node));
  family_->merge(mutable_stats(node), stats(links.right));
  potentials_[node].log_marginal = family_->log_marginal(stats(node));
  weigh(node);
}

void MergeTree::update_from(Node node) {
  for (; node != kNone; node = nodes_[node].parent) update(node);
}

void MergeTree::weigh(Node node) {
  Potentials& own = potentials_[node];
  own.log_weight = prior_->log_kappa(nodes_[node].count) + own.log_marginal;
  own.log_phi = is_leaf(node) ? own.log_weight : log_phi_above(own.log_weight, log_phi_of_children(node));
}

MergeTree::Insertion MergeTree::seq_insert(Node tree, Node x) {
  if (is_leaf(tree) && !is_leaf(x)) std::swap(tree, x);
  Node place = tree;
  while (!is_leaf(place)) {
    const double own = log_d(place);
    const double with_left = log_d(left(place), x);
    const double with_right = log_d(right(place), x);
    if (own < with_left && own < with_right) break;
    place = with_left < with_right ? left(place) : right(place);
  }
  const Node before = parent(place);
  const Node above = allocate();
  link(above, place, x);
  replace_child(before, place, above);
  update_from(above);
  return {before == kNone ? above : tree, above};
}

MergeTree::Node MergeTree::detach(Node node) {
  const Node gone = parent(node);
  if (gone == kNone) return kNone;
  const Node kept = sibling(node);
  const Node before = parent(gone);
  replace_child(before, gone, kept);
  nodes_[node].parent = kNone;
  free(gone);
  update_from(before);
  return root_of(kept);
}

void MergeTree::cut(Node node, std::vector<Node>& beside) {
  Node below = node;
  while (parent(below) != kNone) {
    const Node above = parent(below);
    const Node other = sibling(below);
    beside.push_back(other);
    nodes_[other].parent = kNone;
    if (below != node) free(below);
    below = above;
  }
  if (below != node) free(below);
  nodes_[node].parent = kNone;
}

MergeTree::Node MergeTree::copy(Node root) {
  const auto twin_of = [&](Node node, Node above) {
    const Node twin = allocate();
    nodes_[twin] = {above, kNone, kNone, nodes_[node].count, nodes_[node].first_row};
    potentials_[twin] = potentials_[node];
    std::copy_n(stats(node), stats_size_, mutable_stats(twin));
    if (is_leaf(node) && count(node) > 1) blocks_.insert_or_assign(twin, blocks_.at(node));
    return twin;
  };
  const Node copied = twin_of(root, kNone);
  for (Node node = root, twin = copied;;) {
    if (!is_leaf(node)) {
      const Node child = twin_of(left(node), twin);
      nodes_[twin].left = child;
      node = left(node);
      twin = child;
      continue;
    }
    while (node != root && right(parent(node)) == node) {
      node = parent(node);
      twin = parent(twin);
    }
    if (node == root) return copied;
    node = sibling(node);
    const Node above = parent(twin);
    twin = twin_of(node, above);
    nodes_[above].right = twin;
  }
}

void MergeTree::release(Node root) {
  for_each_node_upwards(root, [&](Node node) { free(node); });
}

void MergeTree::release_join(Node root) {
  nodes_[left(root)].parent = nodes_[right(root)].parent = kNone;
  free(root);
}

void MergeTree::refresh() {
  for (Node root = 0; root < nodes_.size(); ++root)
    if (nodes_[root].count != 0 && is_root(root))
      for_each_node_upwards(root, [&](Node node) { weigh(node); });
}

MergeTree::Node MergeTree::root_of(Node node) const {
  while (nodes_[node].parent != kNone) node = nodes_[node].parent;
  return node;
}

double MergeTree::log_d(Node node) const {
  return is_leaf(node) ? kMinusInfinity : log_phi_of_children(node) - log_weight(node);
}

double MergeTree::log_weight_joined(Node a, Node b, double* scratch) const {
  // In the order in which join() would merge them, so that the two agree to the last bit.
  if (first_row(b) < first_row(a)) std::swap(a, b);
  std::copy_n(stats(a), stats_size_, scratch);
  family_->merge(scratch, stats(b));
  return prior_->log_kappa(count(a) + count(b)) + family_->log_marginal(scratch);
}

void MergeTree::audit() const {
  const auto demand = [](bool holds, Node node, const char* what) {
    if (!holds) fail(ErrorCode::bug, "MergeTree: {} at node {}", what, node);
  };
  std::vector<bool> unused(nodes_.size(), false);
  for (const Node node : free_) {
    demand(!unused[node], node, "released twice");
    unused[node] = true;
  }
  std::vector<double> merged(stats_size_);
  std::size_t reached = 0;
  for (Node node = 0; node < nodes_.size(); ++node) {
    const Links& links = nodes_[node];
    demand(unused[node] == (links.count == 0), node, "a released node in use");
    if (unused[node]) continue;
    if (is_root(node)) for_each_node(node, [&](Node) { ++reached; });
    const double log_weight = prior_->log_kappa(links.count) + potentials_[node].log_marginal;
    demand(potentials_[node].log_weight == log_weight, node, "a stale weight");
    if (is_leaf(node)) {
      demand(links.right == kNone, node, "a leaf with a child");
      demand(potentials_[node].log_phi == log_weight, node, "a stale potential");
      family_->clear(merged.data());
      std::uint32_t count = 0;
      for_each_row(node, [&](std::uint32_t row) {
        family_->add(merged.data(), (*rows_)[row]);
        ++count;
      });
      demand(links.count == count, node, "a wrong count");
    } else {
      demand(parent(links.left) == node && parent(links.right) == node, node, "a child with another parent");
      demand(first_row(links.left) < first_row(links.right), node, "children out of order");
      demand(links.first_row == first_row(links.left), node, "a wrong first row");
      demand(links.count == count(links.left) + count(links.right), node, "a wrong count");
      demand(potentials_[node].log_phi == log_add_exp(log_weight, log_phi_of_children(node)), node,
             "a stale potential");
      std::copy_n(stats(links.left), stats_size_, merged.data());
      family_->merge(merged.data(), stats(links.right));
    }
    demand(std::equal(merged.begin(), merged.end(), stats(node)), node, "stale statistics");
    demand(potentials_[node].log_marginal == family_->log_marginal(stats(node)), node, "a stale marginal");
  }
  demand(reached == nodes(), kNone, "a node below no root");
}

}  // namespace coppice
