#include "coppice/post/scores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "coppice/base/error.hpp"
#include "coppice/shape/contingency.hpp"

namespace coppice {

namespace {

double pairs_of(std::size_t count) {
  const auto n = static_cast<double>(count);
  return 0.5 * n * (n - 1.0);
}

double entropy(std::span<const std::size_t> sizes, double rows) {
  double sum = 0.0;
  for (const std::size_t size : sizes) {
    const double share = static_cast<double>(size) / rows;
    sum -= share * std::log(share);
  }
  return std::max(sum, 0.0);
}

std::vector<std::size_t> sizes_of(std::span<const Label> labels, std::size_t clusters) {
  std::vector<std::size_t> sizes(clusters, 0);
  for (const Label label : labels) ++sizes[static_cast<std::size_t>(label)];
  return sizes;
}

// Everything the scores need, in one pass over the cells of the contingency table.
struct Comparison {
  std::vector<std::size_t> class_sizes;
  std::vector<std::size_t> cluster_sizes;
  double rows = 0.0;
  double joint_pairs = 0.0;          // pairs together in both
  double class_given_cluster = 0.0;  // conditional entropies, nats
  double cluster_given_class = 0.0;
  std::vector<double> best_f;                // for each class
  std::vector<std::size_t> largest_overlap;  // for each cluster

  double class_pairs() const { return sum_pairs(class_sizes); }
  double cluster_pairs() const { return sum_pairs(cluster_sizes); }
  static double sum_pairs(std::span<const std::size_t> sizes) {
    double sum = 0.0;
    for (const std::size_t size : sizes) sum += pairs_of(size);
    return sum;
  }
};

Comparison compare(std::span<const Label> truth, std::span<const Label> found) {
  if (truth.size() != found.size()) {
    fail(ErrorCode::usage, "scores: {} true labels for {} rows", truth.size(), found.size());
  }
  Labels classes;
  Labels clusters;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (truth[i] < 0) continue;
    classes.push_back(truth[i]);
    clusters.push_back(found[i]);
  }
  if (classes.empty()) fail(ErrorCode::usage, "scores: no row has a known class");
  const std::size_t class_count = compact_labels(classes, classes);
  const std::size_t cluster_count = compact_labels(clusters, clusters);

  Comparison result;
  result.class_sizes = sizes_of(classes, class_count);
  result.cluster_sizes = sizes_of(clusters, cluster_count);
  result.rows = static_cast<double>(classes.size());
  result.best_f.assign(class_count, 0.0);
  result.largest_overlap.assign(cluster_count, 0);
  PairCounter counter;
  counter.for_each_cell(
      classes, class_count, clusters, cluster_count, [&](std::size_t c, std::size_t k, std::size_t overlap) {
        const auto both = static_cast<double>(overlap);
        const auto class_size = static_cast<double>(result.class_sizes[c]);
        const auto cluster_size = static_cast<double>(result.cluster_sizes[k]);
        result.joint_pairs += pairs_of(overlap);
        result.class_given_cluster += both / result.rows * std::log(cluster_size / both);
        result.cluster_given_class += both / result.rows * std::log(class_size / both);
        result.best_f[c] = std::max(result.best_f[c], 2.0 * both / (class_size + cluster_size));
        result.largest_overlap[k] = std::max(result.largest_overlap[k], overlap);
      });
  return result;
}

double ari_of(const Comparison& c) {
  const double all = 0.5 * c.rows * (c.rows - 1.0);
  const double in_classes = c.class_pairs();
  const double in_clusters = c.cluster_pairs();
  const double missed = in_classes - c.joint_pairs;
  const double false_joins = in_clusters - c.joint_pairs;
  if (missed == 0.0 && false_joins == 0.0) return 1.0;
  const double apart = all - in_classes - in_clusters + c.joint_pairs;
  return 2.0 * (c.joint_pairs * apart - missed * false_joins) /
         (in_classes * (missed + apart) + in_clusters * (false_joins + apart));
}

double nmi_of(const Comparison& c) {
  if (c.class_sizes.size() == 1 && c.cluster_sizes.size() == 1) return 1.0;
  const double class_entropy = entropy(c.class_sizes, c.rows);
  const double information = class_entropy - c.class_given_cluster;
  if (information <= std::numeric_limits<double>::epsilon()) return 0.0;
  return information / (0.5 * (class_entropy + entropy(c.cluster_sizes, c.rows)));
}

double vi_of(const Comparison& c) { return c.class_given_cluster + c.cluster_given_class; }

double f_of(const Comparison& c) {
  double sum = 0.0;
  for (std::size_t k = 0; k < c.best_f.size(); ++k)
    sum += static_cast<double>(c.class_sizes[k]) * c.best_f[k];
  return sum / c.rows;
}

double pairwise_f_of(const Comparison& c) {
  const double total = c.class_pairs() + c.cluster_pairs();
  return total == 0.0 ? 1.0
                      : 2.0 * c.joint_pairs / total;  // no pair to find and none claimed: nothing is wrong
}

double purity_of(const Comparison& c) {
  double sum = 0.0;
  for (const std::size_t overlap : c.largest_overlap) sum += static_cast<double>(overlap);
  return sum / c.rows;
}

double explained(double conditional, double entropy) {
  return entropy == 0.0 ? 1.0 : 1.0 - conditional / entropy;
}

}  // namespace

Scores score(std::span<const Label> truth, std::span<const Label> found) {
  const Comparison c = compare(truth, found);
  Scores scores;
  scores.f_measure = f_of(c);
  scores.pairwise_f = pairwise_f_of(c);
  scores.ari = ari_of(c);
  scores.nmi = nmi_of(c);
  scores.vi = vi_of(c);
  scores.purity = purity_of(c);
  scores.homogeneity = explained(c.class_given_cluster, entropy(c.class_sizes, c.rows));
  scores.completeness = explained(c.cluster_given_class, entropy(c.cluster_sizes, c.rows));
  scores.rows = static_cast<std::size_t>(c.rows);
  scores.classes = c.class_sizes.size();
  scores.clusters = c.cluster_sizes.size();
  return scores;
}

double adjusted_rand_index(std::span<const Label> truth, std::span<const Label> found) {
  return ari_of(compare(truth, found));
}

double normalized_mutual_information(std::span<const Label> truth, std::span<const Label> found) {
  return nmi_of(compare(truth, found));
}

double variation_of_information(std::span<const Label> a, std::span<const Label> b) {
  return vi_of(compare(a, b));
}

double binder_distance(std::span<const Label> a, std::span<const Label> b) {
  const Comparison c = compare(a, b);
  return 2.0 * (c.class_pairs() + c.cluster_pairs() - 2.0 * c.joint_pairs) / (c.rows * c.rows);
}

double f_measure(std::span<const Label> truth, std::span<const Label> found) {
  return f_of(compare(truth, found));
}

double pairwise_f_measure(std::span<const Label> truth, std::span<const Label> found) {
  return pairwise_f_of(compare(truth, found));
}

double purity(std::span<const Label> truth, std::span<const Label> found) {
  return purity_of(compare(truth, found));
}

}  // namespace coppice
