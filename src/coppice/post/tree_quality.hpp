// How tight the nodes of a tree are and how far apart siblings stand: average inner distance and average
// outer distance, in squared Euclidean distances of the rows as the model sees them,
//   AID = average over the nodes z below the root of W(z), W(z) = 2 / (n_z - 1) sum_{n in z} |x_n - mean_z|^2
//         (the average over pairs of rows of |x_n - x_m|^2), W = 0 for a node of one row,
//   AOD = average over all pairs of siblings of |mean_z - mean_z'|^2, NaN in a tree of one path.
// AID falls by itself when nodes shatter, so AID over nodes of two rows or more is kept beside it. In the
// presentation tree the nodes are those that have siblings; siblings are the same, and so is AOD. O(rows x
// levels x features) for a tree: a sum over m siblings' pairs is m times their squared deviations.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "coppice/data/table.hpp"
#include "coppice/run/saved_run.hpp"
#include "coppice/shape/partition.hpp"

namespace coppice {

/// Numbers to measure distances by, rows x width, each column with mean 0.
struct Features {
  std::size_t width = 0;
  std::vector<double> values;

  std::size_t rows() const { return width == 0 ? 0 : values.size() / width; }
  const double* operator[](std::size_t row) const { return values.data() + row * width; }
};

/// The columns of the table as it is modeled (after standardizing or PCA). A missing cell is replaced by the
/// mean of its column; a category adds 1 to the squared distance of two rows that differ in it.
Features features_of(const Table& table);

struct NodeDistances {
  double aid = 0.0;
  double aid_ge2 = 0.0;    // nodes of two rows or more; NaN if there are none
  double collapsed = 0.0;  // AID of the presentation tree; NaN for a single path, which has no nodes there
  double aod = 0.0;        // NaN without siblings
  std::size_t nodes = 0;
  std::size_t collapsed_nodes = 0;
};

struct TreeQuality {
  NodeDistances all;                  // all nodes below the root
  std::vector<NodeDistances> levels;  // those of level 1, 2, ...
  std::size_t collapsed_leaves = 0;   // of the presentation tree
  bool is_single_path() const { return all.collapsed_nodes == 0; }
};

/// Of nested canonical labels, all levels one after the other, coarsest first.
TreeQuality tree_quality(std::span<const Label> labels, const Features& features);

/// Averages over draws; a draw in which a number is NaN is left out of that number's average.
struct MeanDistances {
  double aid = 0.0, aid_ge2 = 0.0, collapsed = 0.0, aod = 0.0;
  double nodes = 0.0, collapsed_nodes = 0.0;
};

struct RunQuality {
  MeanDistances all;
  std::vector<MeanDistances> levels;
  double collapsed_leaves = 0.0;
  double single_path_share = 0.0;  // of the draws; they have no AOD
  std::size_t draws = 0;           // evenly spaced ones where all would take more than a second or two
};

RunQuality run_quality(const SavedRun& run, const Features& features);

}  // namespace coppice
