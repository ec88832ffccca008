#include "coppice/cluster/tree_posterior.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/math.hpp"

namespace coppice {

TreePosterior::TreePosterior(const Dendrogram& tree)
    : tree_(&tree), log_cluster_(tree.nodes(), kMinusInfinity), coclustering_(tree.nodes(), 0.0) {
  std::vector<double> log_above(tree.nodes(), 0.0);  // no strict ancestor is a cluster
  for (auto node = static_cast<Node>(tree.nodes()); node-- > 0;) {
    const Node above = tree.parent(node);
    if (above != Dendrogram::kNone && tree.is_block(above)) {  // an item of a block has no say of its own
      coclustering_[node] = coclustering_[above];
      continue;
    }
    if (above != Dendrogram::kNone) log_above[node] = log_above[above] + log_logistic(-tree.log_odds(above));
    const double log_whole = tree.is_leaf(node) ? 0.0 : log_logistic(tree.log_odds(node));
    log_cluster_[node] = log_above[node] + log_whole;
    coclustering_[node] =
        std::exp(log_cluster_[node]) + (above == Dendrogram::kNone ? 0.0 : coclustering_[above]);
  }
}

double TreePosterior::coclustering(std::uint32_t a, std::uint32_t b) const {
  if (a == b) return 1.0;
  Node x = a;
  Node y = b;
  // Parents have larger numbers: the smaller of two nodes cannot be above the other.
  while (x != y) {
    Node& lower = x < y ? x : y;
    lower = tree_->parent(lower);
    if (lower == Dendrogram::kNone) return 0.0;
  }
  return coclustering_[x];
}

std::vector<double> TreePosterior::coclustering() const {
  const std::size_t n = tree_->items();
  std::vector<double> matrix(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) matrix[i * n + i] = 1.0;
  std::vector<std::uint32_t> left, right;
  const auto fill = [&](double value) {
    for (const std::uint32_t i : left)
      for (const std::uint32_t j : right) matrix[i * n + j] = matrix[j * n + i] = value;
  };
  for (auto node = static_cast<Node>(n); node < tree_->nodes(); ++node) {
    left.clear();
    right.clear();
    if (tree_->is_block(node)) {
      for (const std::uint32_t item : tree_->block_items(node)) {
        right.assign(1, item);
        fill(coclustering_[node]);
        left.push_back(item);
      }
      continue;
    }
    tree_->for_each_item(tree_->left(node), [&](std::uint32_t item) { left.push_back(item); });
    tree_->for_each_item(tree_->right(node), [&](std::uint32_t item) { right.push_back(item); });
    fill(coclustering_[node]);
  }
  return matrix;
}

double TreePosterior::expected_clusters() const {
  double total = 0.0;
  for (const double log_cluster : log_cluster_) total += std::exp(log_cluster);
  return total;
}

template <typename StaysWhole>
Labels TreePosterior::descend(StaysWhole&& stays_whole) const {
  Labels labels(tree_->items());
  Label next = 0;
  std::vector<Node> stack = tree_->roots();
  while (!stack.empty()) {
    const Node node = stack.back();
    stack.pop_back();
    if (tree_->is_leaf(node) || stays_whole(node)) {
      tree_->for_each_item(node, [&](std::uint32_t item) { labels[item] = next; });
      ++next;
    } else {
      stack.push_back(tree_->left(node));
      stack.push_back(tree_->right(node));
    }
  }
  canonicalize(labels);
  return labels;
}

Labels TreePosterior::cut(double threshold) const {
  const double least = std::log(threshold) - std::log1p(-threshold);
  return descend([&](Node node) { return tree_->log_odds(node) >= least; });
}

Labels TreePosterior::most_probable() const {
  std::vector<double> best(tree_->nodes(), 0.0);  // of the partitions below a node
  std::vector<bool> whole(tree_->nodes(), true);
  for (auto node = static_cast<Node>(tree_->items()); node < tree_->nodes(); ++node) {
    if (tree_->is_block(node)) continue;
    const double log_odds = tree_->log_odds(node);
    const double apart = log_logistic(-log_odds) + best[tree_->left(node)] + best[tree_->right(node)];
    whole[node] = log_logistic(log_odds) >= apart;
    best[node] = std::max(log_logistic(log_odds), apart);
  }
  return descend([&](Node node) { return whole[node]; });
}

Labels TreePosterior::draw(Stream& stream) const {
  return descend(
      [&](Node node) { return std::log(draw_uniform(stream)) < log_logistic(tree_->log_odds(node)); });
}

}  // namespace coppice
