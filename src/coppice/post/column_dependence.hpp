// How much one column tells about another: the mutual information of two cells of a new row under the
// predictive of each draw,
//   I(A; B) = sum over values a, b of p(a, b) log(p(a, b) / (p(a) p(b))),
// in nats, with its mean and 90 % interval over the draws. Sums over discrete columns are exact; integrals
// over numbers use grids (cell_grid.hpp), and densities are normalized on them.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "coppice/data/table.hpp"
#include "coppice/run/saved_run.hpp"

namespace coppice {

struct ColumnDependence {
  std::size_t first = 0, second = 0;  // columns of the table
  double mutual_information = 0.0;    // nats, mean over the draws
  double low = 0.0, high = 0.0;       // 5 % and 95 % quantiles over the draws
  /// Linfoot's informational coefficient of correlation, sqrt(1 - exp(-2 I)), of the mean: that of a normal
  /// pair of columns with this correlation.
  double correlation = 0.0;
  /// The part of the entropy of a discrete column that the other one explains (the uncertainty coefficient),
  /// mean over the draws; NaN for numbers.
  double share_of_first = kMissing, share_of_second = kMissing;
  double same_view = kMissing;  // the fraction of draws with both columns in one view; NaN without views
};

struct DependenceOptions {
  std::size_t most_draws = 0;  // 0: at most 200, and fewer if there are very many pairs
  std::size_t nodes = 48;      // of the grid of a column of numbers
  std::size_t threads = 0;     // 0: all; the answer does not depend on it
};

/// One answer for each pair of columns of the table. Error{usage} for a column that is not there or a pair of
/// a column with itself, Error{configuration} for a family that needs complete rows.
std::vector<ColumnDependence> column_dependence(const SavedRun& run,
                                                std::span<const std::pair<std::size_t, std::size_t>> pairs,
                                                const DependenceOptions& options = {});

/// The log density evaluations that a draw takes: what decides whether all pairs are cheap.
double dependence_cost(const SavedRun& run, std::size_t pairs, const DependenceOptions& options = {});

}  // namespace coppice
