// Agreement of a found clustering with known classes, from their contingency table. ARI, NMI (arithmetic mean
// of the entropies) and the entropies follow scikit-learn's conventions. The clustering F-measure is
//   F = sum over classes c of (n_c / N) * max over clusters k of 2 n_ck / (n_c + n_k),
// the best match of each class weighted by its size: it is not symmetric. The pairwise F-measure is the
// harmonic mean of precision and recall over the pairs of rows put together. Rows whose truth is negative
// (missing) are skipped.
#pragma once

#include <cstddef>
#include <span>

#include "coppice/shape/partition.hpp"

namespace coppice {

/// The class of a row whose class is unknown.
inline constexpr Label kMissingTruth = -1;

/// How well clusters agree with known classes.
struct Scores {
  double f_measure = 0.0;     // best match of each class, weighted by its size
  double pairwise_f = 0.0;    // harmonic mean of pairwise precision and recall
  double ari = 0.0;           // adjusted Rand index
  double nmi = 0.0;           // normalized mutual information
  double vi = 0.0;            // nats
  double purity = 0.0;        // fraction of rows of the most frequent class of their cluster
  double homogeneity = 0.0;   // 1 if every cluster has rows of one class only
  double completeness = 0.0;  // 1 if every class is within one cluster
  std::size_t rows = 0;       // rows with a known class
  std::size_t classes = 0;    // among those rows
  std::size_t clusters = 0;   // among those rows
};

/// All scores at once. Error{usage} if the lengths differ or no row has a known class.
Scores score(std::span<const Label> truth, std::span<const Label> found);

/// Adjusted Rand index.
double adjusted_rand_index(std::span<const Label> truth, std::span<const Label> found);
/// Mutual information over the mean of the entropies.
double normalized_mutual_information(std::span<const Label> truth, std::span<const Label> found);
/// Variation of information H(a|b) + H(b|a) in nats: a metric on partitions.
double variation_of_information(std::span<const Label> a, std::span<const Label> b);
/// Binder's loss with equal costs: the fraction of ordered pairs (i, j) that one of the two joins and the
/// other separates, 2 * |pairs in disagreement| / n^2.
double binder_distance(std::span<const Label> a, std::span<const Label> b);
/// The best F-measure of a cluster for each class, weighted by the sizes of the classes.
double f_measure(std::span<const Label> truth, std::span<const Label> found);
/// F-measure of the pairs that are in one cluster.
double pairwise_f_measure(std::span<const Label> truth, std::span<const Label> found);
/// The fraction of rows that belong to the most frequent class of their cluster.
double purity(std::span<const Label> truth, std::span<const Label> found);

}  // namespace coppice
