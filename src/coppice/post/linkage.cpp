#include "coppice/post/linkage.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

#include "coppice/base/error.hpp"
#include "coppice/base/extremes.hpp"

namespace coppice {

namespace {

// Clusters as sets of leaves, each with the id of its node in the tree.
class Forest {
 public:
  explicit Forest(std::size_t leaves) : parent_(2 * leaves), size_(2 * leaves, 1) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    next_ = leaves;
  }
  std::size_t root(std::size_t node) {
    while (parent_[node] != node) {
      parent_[node] = parent_[parent_[node]];
      node = parent_[node];
    }
    return node;
  }
  std::size_t join(std::size_t a, std::size_t b) {
    parent_[a] = parent_[b] = next_;
    size_[next_] = size_[a] + size_[b];
    return size_[next_++];
  }

 private:
  std::vector<std::size_t> parent_;
  std::vector<std::size_t> size_;
  std::size_t next_ = 0;
};

struct RawMerge {
  std::size_t a;
  std::size_t b;
  double height;
};

// The chain finds the merges in an order of its own; sort them and give the nodes their ids.
Linkage label_merges(std::vector<RawMerge> raw, std::size_t n) {
  std::stable_sort(raw.begin(), raw.end(),
                   [](const RawMerge& x, const RawMerge& y) { return x.height < y.height; });
  Linkage tree;
  tree.leaves = n;
  tree.merges.reserve(raw.size());
  Forest forest(n);
  for (const RawMerge& merge : raw) {
    const std::size_t a = forest.root(merge.a);
    const std::size_t b = forest.root(merge.b);
    tree.merges.push_back({std::min(a, b), std::max(a, b), merge.height, forest.join(a, b)});
  }
  return tree;
}

template <typename Real>
Linkage nearest_neighbor_chain(std::vector<Real> distance, std::size_t n) {
  if (distance.size() != n * n) {
    fail(ErrorCode::bug, "average_linkage: {} dissimilarities for {} rows", distance.size(), n);
  }
  for (const Real value : distance) {
    if (!(value == value)) fail(ErrorCode::usage, "average_linkage: a dissimilarity is not a number");
  }
  constexpr Real kGone = std::numeric_limits<Real>::infinity();
  for (std::size_t i = 0; i < n; ++i) distance[i * n + i] = kGone;
  std::vector<std::size_t> size(n, 1);  // 0: merged away
  std::vector<std::size_t> active(n);
  std::iota(active.begin(), active.end(), std::size_t{0});
  std::vector<RawMerge> raw;
  raw.reserve(n > 0 ? n - 1 : 0);
  std::vector<std::size_t> chain;
  chain.reserve(n);
  while (raw.size() + 1 < n) {
    if (chain.empty()) chain.push_back(active.front());
    while (true) {
      const std::size_t x = chain.back();
      const Real* row = distance.data() + x * n;
      std::size_t nearest = first_minimum(row, n);
      const bool has_previous = chain.size() > 1;
      const std::size_t previous = has_previous ? chain[chain.size() - 2] : x;
      // Among equally near clusters the previous one ends the chain; otherwise it might never end.
      if (has_previous && row[previous] <= row[nearest]) nearest = previous;
      if (has_previous && nearest == previous) break;
      chain.push_back(nearest);
    }
    const std::size_t b = std::max(chain.back(), chain[chain.size() - 2]);
    const std::size_t a = std::min(chain.back(), chain[chain.size() - 2]);
    chain.resize(chain.size() - 2);
    raw.push_back({a, b, static_cast<double>(distance[a * n + b])});
    const auto weight_a = static_cast<Real>(size[a]);
    const auto weight_b = static_cast<Real>(size[b]);
    size[b] += size[a];
    size[a] = 0;
    active.erase(std::lower_bound(active.begin(), active.end(), a));
    Real* row_b = distance.data() + b * n;
    const Real* row_a = distance.data() + a * n;
    for (const std::size_t i : active) {
      if (i != b) {
        const Real merged = (weight_a * row_a[i] + weight_b * row_b[i]) / (weight_a + weight_b);
        row_b[i] = merged;
        distance[i * n + b] = merged;
      }
      distance[i * n + a] = kGone;
    }
  }
  return label_merges(std::move(raw), n);
}

// Labels after the first `count` merges.
Labels labels_after(const Linkage& tree, std::size_t count) {
  // From the top down: a node made by a merge that is undone passes nothing on; any other passes on its
  // cluster.
  std::vector<Label> cluster(tree.nodes(), -1);
  Label next = 0;
  for (std::size_t node = tree.nodes(); node-- > 0;) {
    const bool is_merged = !tree.is_leaf(node) && node - tree.leaves < count;
    if (cluster[node] < 0 && (is_merged || tree.is_leaf(node))) cluster[node] = next++;
    if (is_merged) {
      cluster[tree.merge(node).left] = cluster[node];
      cluster[tree.merge(node).right] = cluster[node];
    }
  }
  Labels labels(cluster.begin(), cluster.begin() + static_cast<std::ptrdiff_t>(tree.leaves));
  canonicalize(labels);
  return labels;
}

}  // namespace

void check_linkage(const Linkage& tree) {
  if (tree.merges.size() + 1 != std::max<std::size_t>(tree.leaves, 1)) {
    fail(ErrorCode::bug, "linkage: {} merges for {} leaves", tree.merges.size(), tree.leaves);
  }
  std::vector<bool> used(tree.nodes(), false);
  for (std::size_t k = 0; k < tree.merges.size(); ++k) {
    const Merge& merge = tree.merges[k];
    for (const std::size_t child : {merge.left, merge.right}) {
      if (child >= tree.leaves + k || used[child]) {
        fail(ErrorCode::bug, "linkage: merge {} takes node {}, which is not free", k, child);
      }
      used[child] = true;
    }
    if (merge.size != tree.size(merge.left) + tree.size(merge.right)) {
      fail(ErrorCode::bug, "linkage: merge {} has {} leaves, its children have {}", k, merge.size,
           tree.size(merge.left) + tree.size(merge.right));
    }
    if (!(merge.height >= (k == 0 ? -std::numeric_limits<double>::infinity() : tree.merges[k - 1].height))) {
      fail(ErrorCode::bug, "linkage: merge {} is lower than the one before", k);
    }
  }
}

Linkage average_linkage(std::vector<double> dissimilarity, std::size_t n) {
  return nearest_neighbor_chain(std::move(dissimilarity), n);
}

Linkage average_linkage(std::vector<float> dissimilarity, std::size_t n) {
  return nearest_neighbor_chain(std::move(dissimilarity), n);
}

Linkage coclustering_tree(std::span<const double> similarity, std::size_t n) {
  std::vector<double> dissimilarity(similarity.size());
  std::transform(similarity.begin(), similarity.end(), dissimilarity.begin(),
                 [](double s) { return 1.0 - s; });
  return average_linkage(std::move(dissimilarity), n);
}

Linkage linkage_of(const RowTree& tree) {
  Linkage linkage;
  linkage.leaves = tree.rows();
  std::vector<std::size_t> height(tree.nodes(), 0);
  std::vector<RowTree::Node> inner;
  for (auto node = static_cast<RowTree::Node>(tree.rows()); node < tree.nodes(); ++node) {
    height[node] = std::max(height[tree.left(node)], height[tree.right(node)]) + 1;
    inner.push_back(node);
  }
  std::stable_sort(inner.begin(), inner.end(),
                   [&](RowTree::Node a, RowTree::Node b) { return height[a] < height[b]; });
  std::vector<std::size_t> number(tree.nodes());
  std::iota(number.begin(), number.begin() + static_cast<std::ptrdiff_t>(tree.rows()), std::size_t{0});
  for (const RowTree::Node node : inner) {
    const auto [left, right] = std::minmax(number[tree.left(node)], number[tree.right(node)]);
    number[node] = linkage.nodes();
    linkage.merges.push_back({left, right, static_cast<double>(height[node]), tree.rows_below(node).size()});
  }
  return linkage;
}

std::vector<double> to_scipy(const Linkage& tree) {
  std::vector<double> matrix;
  matrix.reserve(4 * tree.merges.size());
  for (const Merge& merge : tree.merges) {
    matrix.insert(matrix.end(), {static_cast<double>(merge.left), static_cast<double>(merge.right),
                                 merge.height, static_cast<double>(merge.size)});
  }
  return matrix;
}

std::vector<std::size_t> leaf_order(const Linkage& tree) {
  std::vector<std::size_t> order;
  order.reserve(tree.leaves);
  if (tree.leaves == 0) return order;
  std::vector<std::size_t> stack{tree.nodes() -
                                 1};  // not recursive: a chain-like tree is as deep as it has leaves
  while (!stack.empty()) {
    const std::size_t node = stack.back();
    stack.pop_back();
    if (tree.is_leaf(node)) {
      order.push_back(node);
    } else {
      stack.push_back(tree.merge(node).right);
      stack.push_back(tree.merge(node).left);
    }
  }
  return order;
}

Labels cut_into(const Linkage& tree, std::size_t clusters) {
  const std::size_t wanted = std::clamp<std::size_t>(clusters, 1, std::max<std::size_t>(tree.leaves, 1));
  return labels_after(tree, tree.leaves - std::min(wanted, tree.leaves));
}

Labels cut_at(const Linkage& tree, double limit) {
  const auto above = std::partition_point(tree.merges.begin(), tree.merges.end(),
                                          [&](const Merge& merge) { return merge.height <= limit; });
  return labels_after(tree, static_cast<std::size_t>(above - tree.merges.begin()));
}

}  // namespace coppice
