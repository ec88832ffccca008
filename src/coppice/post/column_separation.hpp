// What the model learned about each column: how wide it is within a cluster beside how wide it is in all, and
// so how strongly it separates the clusters. Averaged over draws of the partition.
//
// The share between clusters is 1 - within / overall of the variances, each with its degrees of freedom
// (rows less clusters, rows less one): on average it is 0 for a column that the clusters know nothing of,
// however many clusters there are. Columns on the log scale are compared there. A category is taken as one
// column of zeros and ones for each level; its variance is then the probability that two rows differ
// (Goodman and Kruskal's tau, adjusted). Missing cells and those at a spike are left out.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "coppice/post/analysis.hpp"

namespace coppice {

struct ColumnSeparation {
  std::size_t column = 0;  // of the table
  std::string name;
  Kind kind = Kind::real;
  std::string family;
  bool is_learned = false;  // the hyper-parameters of its family
  bool is_log = false;      // modeled on the log scale
  /// Standard deviations in the units of the data; of categories and yes/no columns the probability that two
  /// rows differ. NaN if no two rows can be compared.
  double overall = 0.0, within = 0.0;
  double between = 0.0;  // the share between clusters, 0 to 1
};

/// Pooled variance within clusters and variance of all, NaN where there are no degrees of freedom.
struct PooledVariance {
  double within = 0.0, overall = 0.0;
};
/// Of numbers, NaN: missing. Labels are 0 to `clusters` - 1.
PooledVariance pooled_variance(std::span<const double> values, std::span<const Label> labels,
                               std::size_t clusters);
/// Of codes 0 to `levels` - 1, NaN: missing; the probabilities that two rows differ.
PooledVariance pooled_difference(std::span<const double> codes, std::size_t levels,
                                 std::span<const Label> labels, std::size_t clusters);

/// Of every column of a flat model, the most separating first; empty for models with several levels or views,
/// and for those that learn labels.
std::vector<ColumnSeparation> column_separation(const Analysis& analysis);

}  // namespace coppice
