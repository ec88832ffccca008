// The views to report of a run: the consensus of the partition of the columns over the draws, and for each of
// its blocks the consensus of the rows' clusters. Views of different draws are matched by their columns: in
// each draw the view that has most columns of the block speaks for it (of several the first). A greedy run
// has one tree over the columns: its views are those of the cut, its probabilities those of the partitions
// that cutting the tree can give.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "coppice/post/consensus.hpp"
#include "coppice/post/profile.hpp"
#include "coppice/run/saved_run.hpp"
#include "coppice/shape/dendrogram.hpp"

namespace coppice {

struct ReportedView {
  std::vector<std::size_t> columns;  // of the table, ascending
  double cohesion =
      0.0;  // mean probability of two of its columns being in one view; of a lone one, to be alone
  Consensus rows;
  std::shared_ptr<const Dendrogram> tree;  // over the rows; none if the model has none
};

struct ReportedViews {
  std::size_t columns = 0;
  /// columns x columns, row by row: in one view. Empty for more than 5,000 columns.
  std::vector<double> coassignment;
  Consensus partition;              // of the columns
  std::vector<ReportedView> views;  // by decreasing number of columns
};

/// Error{configuration} if the model has no views.
ReportedViews report_views(const SavedRun& run, Loss loss, std::size_t threads = 0);

/// Names of the columns of a view.
std::vector<std::string> column_names(const SavedRun& run, const ReportedView& view);
/// What distinguishes the clusters of a view in its columns: at most this many traits of each.
std::vector<ClusterProfile> profile_view(const SavedRun& run, const ReportedView& view,
                                         std::size_t most_traits);

/// The matrix alone, of at most 12,000 columns; Error{configuration} for more.
std::vector<double> column_coassignment(const SavedRun& run);
/// That of some columns.
std::vector<double> column_coassignment(const SavedRun& run, std::span<const std::size_t> columns);

}  // namespace coppice
