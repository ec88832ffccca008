#include "coppice/post/row_trees.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/cluster/tree_posterior.hpp"

namespace coppice {
namespace {

using Node = Dendrogram::Node;

/// How many items of each group are below every node.
std::vector<std::map<Label, double>> count_groups(const Dendrogram& tree, std::span<const Label> groups) {
  std::vector<std::map<Label, double>> counts(tree.nodes());
  for (Node node = 0; node < tree.nodes(); ++node) {
    if (tree.is_item(node)) {
      counts[node][groups[node]] = 1.0;
    } else if (tree.is_block(node)) {
      for (const std::uint32_t item : tree.block_items(node)) counts[node][groups[item]] += 1.0;
    } else {
      counts[node] = counts[tree.left(node)];
      for (const auto& [group, count] : counts[tree.right(node)]) counts[node][group] += count;
    }
  }
  return counts;
}

/// The same forest over items of other numbers.
Dendrogram renamed(const Dendrogram& forest, std::span<const std::size_t> names) {
  const auto name = [&](Node node) { return forest.is_item(node) ? static_cast<Node>(names[node]) : node; };
  Dendrogram other(forest.items());
  for (auto node = static_cast<Node>(forest.items()); node < forest.nodes(); ++node) {
    if (forest.is_block(node)) {
      std::vector<std::uint32_t> items;
      for (const std::uint32_t item : forest.block_items(node)) items.push_back(name(item));
      std::sort(items.begin(), items.end());
      other.block(items);
    } else {
      other.join(name(forest.left(node)), name(forest.right(node)), forest.log_odds(node));
    }
  }
  return other;
}

}  // namespace

Dendrogram row_tree_of(const SavedRun& run) {
  if (!run.model().has_row_tree())
    fail(ErrorCode::configuration, "the model {} has no tree of its own over the rows", run.model().name);
  Dendrogram tree;
  run.for_each_draw(
      1, [&](const SavedDraw& draw) { tree = run.model().row_tree(run.setup().problem, draw.payload); });
  return tree;
}

CrossTree cross_tree_of(const SavedRun& run) {
  if (!run.model().has_column_tree())
    fail(ErrorCode::configuration, "the model {} has no tree over the columns", run.model().name);
  CrossTree encoded;
  run.for_each_draw(1, [&](const SavedDraw& draw) {
    encoded = run.model().column_tree(run.setup().problem, draw.payload);
  });
  const std::vector<std::size_t>& order = run.setup().plan.order;
  CrossTree tree{renamed(encoded.columns, order), encoded.rows};
  for (std::size_t cell = 0; cell < order.size(); ++cell) tree.rows[order[cell]] = encoded.rows[cell];
  return tree;
}

std::vector<double> TreeLinkage::probabilities() const {
  std::vector<double> result;
  for (const double odds : log_odds) result.push_back(1.0 / (1.0 + std::exp(-odds)));
  return result;
}

std::vector<std::string> TreeLinkage::names(std::span<const std::string> of_items) const {
  std::vector<std::string> chosen;
  for (const std::uint32_t item : items) chosen.push_back(of_items[item]);
  return chosen;
}

std::vector<TreeLinkage> tree_linkages(const Dendrogram& forest) {
  constexpr double kCertain = std::numeric_limits<double>::infinity();
  std::vector<TreeLinkage> all;
  for (const Node root : forest.roots()) {
    TreeLinkage tree;
    forest.for_each_item(root, [&](std::uint32_t item) { tree.items.push_back(item); });
    std::sort(tree.items.begin(), tree.items.end());
    const auto leaf = [&](std::uint32_t item) {
      return static_cast<std::size_t>(std::lower_bound(tree.items.begin(), tree.items.end(), item) -
                                      tree.items.begin());
    };
    // Merges in the order in which they were made; numbers below `leaves` are leaves, then merges.
    struct Raw {
      std::size_t left, right;
      double height, log_odds;
    };
    std::vector<Raw> raw;
    std::vector<std::size_t> place(forest.nodes());
    std::vector<Node> nodes;
    std::vector<Node> stack{root};
    while (!stack.empty()) {
      const Node node = stack.back();
      stack.pop_back();
      nodes.push_back(node);
      if (forest.is_leaf(node)) continue;
      stack.push_back(forest.left(node));
      stack.push_back(forest.right(node));
    }
    std::sort(nodes.begin(), nodes.end());
    const auto height_of = [&](std::size_t number) {
      return number < tree.items.size() ? 0.0 : raw[number - tree.items.size()].height;
    };
    const auto add = [&](std::size_t left, std::size_t right, double log_odds) {
      const double own = log1p_exp(-log_odds);
      raw.push_back({left, right, std::max({own, height_of(left), height_of(right)}), log_odds});
      return tree.items.size() + raw.size() - 1;
    };
    for (const Node node : nodes) {
      if (forest.is_item(node)) {
        place[node] = leaf(node);
      } else if (forest.is_block(node)) {
        place[node] = leaf(forest.block_items(node).front());
        for (const std::uint32_t item : forest.block_items(node).subspan(1))
          place[node] = add(place[node], leaf(item), kCertain);
      } else {
        place[node] = add(place[forest.left(node)], place[forest.right(node)], forest.log_odds(node));
      }
    }
    // SciPy wants merges by height; a stable sort keeps children before parents.
    std::vector<std::size_t> order(raw.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return raw[a].height < raw[b].height; });
    std::vector<std::size_t> number(tree.items.size() + raw.size());
    for (std::size_t i = 0; i < tree.items.size(); ++i) number[i] = i;
    tree.linkage.leaves = tree.items.size();
    for (const std::size_t i : order) {
      const auto [low, high] = std::minmax(number[raw[i].left], number[raw[i].right]);
      number[tree.items.size() + i] = tree.linkage.nodes();
      const std::size_t size = tree.linkage.size(low) + tree.linkage.size(high);
      tree.linkage.merges.push_back({low, high, raw[i].height, size});
      tree.log_odds.push_back(raw[i].log_odds);
    }
    all.push_back(std::move(tree));
  }
  return all;
}

Consensus tree_consensus(const Dendrogram& tree, std::span<const Label> clusters) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  Consensus estimate;
  estimate.labels.assign(clusters.begin(), clusters.end());
  estimate.clusters = cluster_sizes(clusters).size();
  estimate.expected_loss = estimate.best_draw_loss = estimate.best_linkage_loss = estimate.ball_radius =
      kUnknown;
  estimate.draws_used = 1;
  const std::vector<std::size_t> sizes = cluster_sizes(clusters);
  const std::vector<std::map<Label, double>> counts = count_groups(tree, clusters);
  const TreePosterior posterior(tree);
  for (std::uint32_t row = 0; row < clusters.size(); ++row) {
    const auto others = static_cast<double>(sizes[static_cast<std::size_t>(clusters[row])] - 1);
    const Node leaf = tree.leaf_of(row);
    if (others == 0.0) {
      estimate.row_confidence.push_back(std::exp(posterior.log_cluster(leaf)));
      continue;
    }
    // Going up, each node brings rows of the cluster that meet the row there.
    double sum = 0.0;
    double met = 1.0;
    for (Node node = leaf; node != Dendrogram::kNone; node = tree.parent(node)) {
      const auto found = counts[node].find(clusters[row]);
      sum += posterior.coclustering(node) * (found->second - met);
      met = found->second;
    }
    estimate.row_confidence.push_back(std::min(sum / others, 1.0));
  }
  return estimate;
}

std::vector<Membership> tree_membership(const Dendrogram& tree, std::span<const Label> consensus) {
  const std::vector<std::size_t> sizes = cluster_sizes(consensus);
  const std::vector<std::map<Label, double>> counts = count_groups(tree, consensus);
  const TreePosterior posterior(tree);
  std::vector<Membership> rows(consensus.size());
  for (std::uint32_t row = 0; row < consensus.size(); ++row) {
    Membership& own = rows[row];
    own.cluster = consensus[row];
    own.probabilities.assign(sizes.size(), 0.0);
    for (Node node = tree.leaf_of(row); node != Dendrogram::kNone; node = tree.parent(node)) {
      const double weight = std::exp(posterior.log_cluster(node));
      const auto others = static_cast<double>(tree.size(node) - 1);
      if (others == 0.0) {
        const bool is_all_of_it = sizes[static_cast<std::size_t>(own.cluster)] == 1;
        (is_all_of_it ? own.probabilities[static_cast<std::size_t>(own.cluster)] : own.alone) += weight;
        continue;
      }
      for (const auto& [group, count] : counts[node])
        own.probabilities[static_cast<std::size_t>(group)] +=
            weight * (count - (group == own.cluster ? 1.0 : 0.0)) / others;
    }
    own.entropy = entropy_of(own.probabilities, own.alone);
  }
  return rows;
}

}  // namespace coppice
