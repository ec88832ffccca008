#include "coppice/post/tree_quality.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "coppice/base/error.hpp"
#include "coppice/post/average.hpp"
#include "coppice/post/hierarchy.hpp"

namespace coppice {
namespace {

constexpr double kWorkBudget = 1.5e9;  // cells x levels read for all draws together
constexpr std::size_t kLeastJudgedTrees = 100;

void append_centered(std::vector<std::vector<double>>& columns, std::vector<double> values, double scale) {
  double sum = 0.0;
  std::size_t present = 0;
  for (const double value : values) {
    if (is_missing(value)) continue;
    sum += value;
    ++present;
  }
  const double mean = present == 0 ? 0.0 : sum / static_cast<double>(present);
  for (double& value : values) value = is_missing(value) ? 0.0 : scale * (value - mean);
  columns.push_back(std::move(values));
}

/// What a set of nodes adds to the averages.
struct NodeSums {
  double inner = 0.0;
  double inner_of_siblings = 0.0;
  double outer = 0.0;
  std::size_t nodes = 0;
  std::size_t nodes_ge2 = 0;
  std::size_t with_siblings = 0;
  std::size_t pairs = 0;

  void add(const NodeSums& other) {
    inner += other.inner;
    inner_of_siblings += other.inner_of_siblings;
    outer += other.outer;
    nodes += other.nodes;
    nodes_ge2 += other.nodes_ge2;
    with_siblings += other.with_siblings;
    pairs += other.pairs;
  }
  NodeDistances distances() const {
    return {mean_of_sum(inner, static_cast<double>(nodes)),
            mean_of_sum(inner, static_cast<double>(nodes_ge2)),
            mean_of_sum(inner_of_siblings, static_cast<double>(with_siblings)),
            mean_of_sum(outer, static_cast<double>(pairs)),
            nodes,
            with_siblings};
  }
};

/// The clusters of one level: sizes, means, and the cluster of the level above.
struct Level {
  std::vector<double> sizes;
  std::vector<double> means;  // clusters x width
  std::vector<std::size_t> parents;
  std::vector<std::size_t> siblings;  // of each parent: its children

  Level(std::span<const Label> labels, std::span<const Label> above, std::size_t parent_count,
        const Features& features) {
    const std::size_t width = features.width;
    for (std::size_t row = 0; row < labels.size(); ++row) {
      const auto cluster = static_cast<std::size_t>(labels[row]);
      if (cluster >= sizes.size()) {
        sizes.resize(cluster + 1, 0.0);
        means.resize((cluster + 1) * width, 0.0);
        parents.resize(cluster + 1);
      }
      sizes[cluster] += 1.0;
      parents[cluster] = above.empty() ? 0 : static_cast<std::size_t>(above[row]);
      for (std::size_t j = 0; j < width; ++j) means[cluster * width + j] += features[row][j];
    }
    for (std::size_t cluster = 0; cluster < sizes.size(); ++cluster)
      for (std::size_t j = 0; j < width; ++j) means[cluster * width + j] /= sizes[cluster];
    siblings.assign(parent_count, 0);
    for (const std::size_t parent : parents) ++siblings[parent];
  }

  std::size_t clusters() const { return sizes.size(); }

  /// sum over the rows of a cluster of |x - mean|^2.
  std::vector<double> scatter(std::span<const Label> labels, const Features& features) const {
    std::vector<double> sums(clusters(), 0.0);
    for (std::size_t row = 0; row < labels.size(); ++row) {
      const auto cluster = static_cast<std::size_t>(labels[row]);
      const double* mean = means.data() + cluster * features.width;
      double sum = 0.0;
      for (std::size_t j = 0; j < features.width; ++j) {
        const double d = features[row][j] - mean[j];
        sum += d * d;
      }
      sums[cluster] += sum;
    }
    return sums;
  }

  /// sum over all pairs of siblings of |mean - mean'|^2.
  double spread_of_siblings(std::size_t width) const {
    std::vector<double> centers(siblings.size() * width, 0.0);
    for (std::size_t c = 0; c < clusters(); ++c)
      for (std::size_t j = 0; j < width; ++j)
        centers[parents[c] * width + j] += means[c * width + j] / static_cast<double>(siblings[parents[c]]);
    double total = 0.0;
    for (std::size_t c = 0; c < clusters(); ++c) {
      double sum = 0.0;
      for (std::size_t j = 0; j < width; ++j) {
        const double d = means[c * width + j] - centers[parents[c] * width + j];
        sum += d * d;
      }
      total += static_cast<double>(siblings[parents[c]]) * sum;
    }
    return total;
  }
};

NodeSums sums_of(const Level& level, std::span<const Label> labels, const Features& features) {
  NodeSums sums;
  const std::vector<double> scatter = level.scatter(labels, features);
  for (std::size_t c = 0; c < level.clusters(); ++c) {
    const bool has_siblings = level.siblings[level.parents[c]] > 1;
    const double inner = level.sizes[c] > 1.0 ? 2.0 / (level.sizes[c] - 1.0) * scatter[c] : 0.0;
    sums.inner += inner;
    ++sums.nodes;
    if (level.sizes[c] > 1.0) ++sums.nodes_ge2;
    if (!has_siblings) continue;
    sums.inner_of_siblings += inner;
    ++sums.with_siblings;
  }
  for (const std::size_t count : level.siblings) sums.pairs += count * (count - 1) / 2;
  sums.outer = level.spread_of_siblings(features.width);
  return sums;
}

struct Averages {
  Average aid, aid_ge2, collapsed, aod, nodes, collapsed_nodes;

  void add(const NodeDistances& one) {
    aid.add(one.aid);
    aid_ge2.add(one.aid_ge2);
    collapsed.add(one.collapsed);
    aod.add(one.aod);
    nodes.add(static_cast<double>(one.nodes));
    collapsed_nodes.add(static_cast<double>(one.collapsed_nodes));
  }
  MeanDistances means() const {
    return {aid.mean(), aid_ge2.mean(), collapsed.mean(), aod.mean(), nodes.mean(), collapsed_nodes.mean()};
  }
};

}  // namespace

Features features_of(const Table& table) {
  std::vector<std::vector<double>> columns;
  for (const Column& column : table.columns) {
    if (column.kind != Kind::category) {
      append_centered(columns, column.values, 1.0);
      continue;
    }
    for (std::size_t level = 0; level < column.levels.size(); ++level) {
      std::vector<double> indicator = column.values;
      for (double& value : indicator)
        if (!is_missing(value)) value = value == static_cast<double>(level) ? 1.0 : 0.0;
      append_centered(columns, std::move(indicator), std::numbers::sqrt2 / 2.0);
    }
  }
  Features features{columns.size(), std::vector<double>(columns.size() * table.rows())};
  for (std::size_t j = 0; j < columns.size(); ++j)
    for (std::size_t row = 0; row < table.rows(); ++row)
      features.values[row * features.width + j] = columns[j][row];
  return features;
}

TreeQuality tree_quality(std::span<const Label> labels, const Features& features) {
  const std::size_t rows = features.rows();
  if (rows == 0 || labels.empty() || labels.size() % rows != 0)
    fail(ErrorCode::usage, "tree_quality: {} labels for {} rows of features", labels.size(), rows);
  TreeQuality quality;
  NodeSums all;
  std::span<const Label> above;
  std::size_t parents = 1;
  for (std::size_t l = 1; l <= labels.size() / rows; ++l) {
    const std::span<const Label> here = level_of(labels, rows, l);
    const Level level(here, above, parents, features);
    const NodeSums sums = sums_of(level, here, features);
    all.add(sums);
    quality.levels.push_back(sums.distances());
    // A node that splits into m adds m - 1 leaves to the one of the root.
    for (const std::size_t count : level.siblings) quality.collapsed_leaves += count - 1;
    above = here;
    parents = level.clusters();
  }
  ++quality.collapsed_leaves;
  quality.all = all.distances();
  return quality;
}

RunQuality run_quality(const SavedRun& run, const Features& features) {
  const double work = static_cast<double>(features.values.size() * run.levels());
  const auto affordable =
      std::max(kLeastJudgedTrees, static_cast<std::size_t>(kWorkBudget / std::max(work, 1.0)));
  RunQuality quality;
  Averages all;
  std::vector<Averages> levels(run.levels());
  double leaves = 0.0;
  std::size_t single = 0;
  run.for_each_draw(affordable, [&](const SavedDraw& draw) {
    const TreeQuality one = tree_quality(draw.labels, features);
    all.add(one.all);
    for (std::size_t l = 0; l < levels.size(); ++l) levels[l].add(one.levels[l]);
    leaves += static_cast<double>(one.collapsed_leaves);
    if (one.is_single_path()) ++single;
    ++quality.draws;
  });
  quality.all = all.means();
  for (const Averages& level : levels) quality.levels.push_back(level.means());
  quality.collapsed_leaves = mean_of_sum(leaves, static_cast<double>(quality.draws));
  quality.single_path_share = mean_of_sum(static_cast<double>(single), static_cast<double>(quality.draws));
  return quality;
}

}  // namespace coppice
