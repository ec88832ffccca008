#include "coppice/model/nrmm/guide.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "coppice/base/math.hpp"
#include "coppice/base/stop.hpp"
#include "coppice/cluster/clusters.hpp"
#include "coppice/cluster/incremental_clustering.hpp"
#include "coppice/model/nrmm/bisect.hpp"

namespace coppice::nrmm {
namespace {

/// Trees grow one row at a time, each at a cost that grows with their depth: a sample is enough to find the
/// clusters, which the other rows then join.
constexpr std::size_t kRowsOfTheFirstTree = 2000;
/// Joining the clusters costs the square of their number; rows of smaller ones join the largest.
constexpr std::size_t kMostClusters = 256;

using Node = RowTree::Node;

/// Labels of all rows from the clusters of a sample: the others join where they fit best, one after the
/// other.
Labels label_rows(const Family& family, const Rows& rows, std::span<const std::uint32_t> order,
                  const ProductPartition& prior, const IncrementalClustering& found,
                  const std::atomic<bool>* stop) {
  std::vector<MergeTree::Node> roots = found.roots;
  if (roots.size() > kMostClusters) {
    std::stable_sort(roots.begin(), roots.end(), [&](MergeTree::Node a, MergeTree::Node b) {
      return found.forest.count(a) > found.forest.count(b);
    });
    roots.resize(kMostClusters);
  }
  Labels labels(rows.size(), Clusters::kUnassigned);
  for (std::size_t cluster = 0; cluster < roots.size(); ++cluster)
    found.forest.for_each_row(roots[cluster],
                              [&](std::uint32_t row) { labels[row] = static_cast<Label>(cluster); });
  Clusters clusters(family, rows, prior.log_join_table());
  clusters.assign(labels);
  std::vector<double> empty(family.stats_size());
  family.clear(empty.data());
  AlignedVector weights;
  for (const std::uint32_t row : order) {
    if (clusters.label(row) != Clusters::kUnassigned) continue;
    throw_if_stopped(stop);
    weights.resize(clusters.weights_size());
    clusters.log_conditional(row, weights.data());
    const auto best = std::max_element(weights.begin(), weights.end());
    const double alone = prior.log_open() + family.log_predictive(empty.data(), rows[row]);
    if (clusters.clusters() < kMostClusters && *best < alone)
      clusters.move_to_new(row);
    else
      clusters.add(row, static_cast<Label>(best - weights.begin()));
  }
  std::copy(clusters.labels().begin(), clusters.labels().end(), labels.begin());
  return labels;
}

/// Trees with their statistics, joined two by two where h(a and b) / (h(a) h(b)) is largest.
class GreedyJoin {
 public:
  GreedyJoin(const Family& family, const ProductPartition& prior) : family_(&family), prior_(&prior) {}

  void add(Node node, std::vector<double> stats) {
    const double log_weight = log_weight_of(stats);
    parts_.push_back({node, std::move(stats), log_weight});
  }

  /// Until one tree is left.
  void join_all(RowTree& tree) {
    const std::size_t count = parts_.size();
    std::vector<double> gain(count * count, kMinusInfinity);
    for (std::size_t a = 0; a < count; ++a)
      for (std::size_t b = a + 1; b < count; ++b) gain[a * count + b] = gain_of(a, b);
    for (std::size_t left = count; left > 1; --left) {
      const auto best = static_cast<std::size_t>(std::max_element(gain.begin(), gain.end()) - gain.begin());
      const std::size_t a = best / count;
      const std::size_t b = best % count;
      family_->merge(parts_[a].stats.data(), parts_[b].stats.data());
      parts_[a] = {tree.join(parts_[a].node, parts_[b].node), std::move(parts_[a].stats), 0.0};
      parts_[a].log_weight = log_weight_of(parts_[a].stats);
      parts_[b].node = RowTree::kNone;
      for (std::size_t other = 0; other < count; ++other) {
        gain[std::min(b, other) * count + std::max(b, other)] = kMinusInfinity;
        if (other != a && parts_[other].node != RowTree::kNone)
          gain[std::min(a, other) * count + std::max(a, other)] = gain_of(a, other);
      }
    }
  }

 private:
  struct Part {
    Node node;
    std::vector<double> stats;
    double log_weight;
  };
  double log_weight_of(const std::vector<double>& stats) const {
    return prior_->log_kappa(static_cast<std::size_t>(count_of(stats.data()))) +
           family_->log_marginal(stats.data());
  }
  double gain_of(std::size_t a, std::size_t b) {
    merged_ = parts_[a].stats;
    family_->merge(merged_.data(), parts_[b].stats.data());
    const double gain = log_weight_of(merged_) - parts_[a].log_weight - parts_[b].log_weight;
    // Where rounding or overflow leaves no number, two trees can still be joined, unlike one that is gone.
    constexpr double kLeast = std::numeric_limits<double>::lowest();
    return gain > kLeast ? gain : kLeast;
  }

  const Family* family_;
  const ProductPartition* prior_;
  std::vector<Part> parts_;
  std::vector<double> merged_;
};

/// The same tree in a RowTree.
Node transfer(const MergeTree& forest, MergeTree::Node root, RowTree& tree) {
  std::vector<Node> done;
  forest.for_each_node_upwards(root, [&](MergeTree::Node node) {
    if (forest.is_leaf(node)) {
      done.push_back(forest.first_row(node));
      return;
    }
    const Node right = done.back();
    done.pop_back();
    done.back() = tree.join(done.back(), right);
  });
  return done.back();
}

}  // namespace

Guide build_guide(const Family& family, const Rows& rows, std::size_t count, const ProductPartition& prior,
                  GuideKind kind, Stream& stream, const std::atomic<bool>* stop) {
  Guide guide{RowTree(count), Labels(count, 0)};
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  shuffle(stream, order);
  Bisection bisection(family, rows, stop);
  if (kind == GuideKind::bisect) {
    bisection.build(guide.tree, order, stream);
    guide.tree.finish();
    return guide;
  }

  const bool only_ibhc = kind == GuideKind::ibhc;
  const std::span<const std::uint32_t> sample(order.data(),
                                              only_ibhc ? count : std::min(count, kRowsOfTheFirstTree));
  const IncrementalClustering found = incremental_clustering(family, rows, sample, prior);
  GreedyJoin join(family, prior);
  const auto stats_of = [&](std::span<const std::uint32_t> members) {
    std::vector<double> stats(family.stats_size());
    family.clear(stats.data());
    for (const std::uint32_t row : members) family.add(stats.data(), rows[row]);
    return stats;
  };
  if (only_ibhc && found.roots.size() <= kMostClusters) {
    for (std::size_t cluster = 0; cluster < found.roots.size(); ++cluster) {
      const MergeTree::Node root = found.roots[cluster];
      found.forest.for_each_row(
          root, [&](std::uint32_t row) { guide.clusters[row] = static_cast<Label>(cluster); });
      const double* stats = found.forest.stats(root);
      join.add(transfer(found.forest, root, guide.tree), {stats, stats + family.stats_size()});
    }
  } else {
    Labels labels = label_rows(family, rows, order, prior, found, stop);
    labels.resize(count);
    std::copy(labels.begin(), labels.end(), guide.clusters.begin());
    const std::size_t clusters = canonicalize(guide.clusters);
    std::vector<std::vector<std::uint32_t>> members(clusters);
    for (std::uint32_t row = 0; row < count; ++row)
      members[static_cast<std::size_t>(guide.clusters[row])].push_back(row);
    for (std::vector<std::uint32_t>& list : members) {
      std::vector<double> stats = stats_of(list);
      join.add(bisection.build(guide.tree, list, stream), std::move(stats));
    }
  }
  canonicalize(guide.clusters);
  join.join_all(guide.tree);
  guide.tree.finish();
  return guide;
}

}  // namespace coppice::nrmm
