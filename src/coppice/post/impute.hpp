// Imputed values with uncertainty: the predictive of a missing cell given the row's cluster, averaged over
// the stored draws. Families that accept missing cells have independent columns given the cluster, so the
// cell's predictive is that of its cluster, and a missing cell adds nothing to it. Mean and variance of the
// average are exact (law of total variance). Median and 90 % interval are those of the average of the draws'
// predictives: t distributions, also on the log scale, and probabilities of counts (up to twice the largest
// that was seen; beyond, and where a family knows only mean and variance, normal distributions). Binary and
// category cells have exact averaged probabilities.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "coppice/data/table.hpp"
#include "coppice/run/saved_run.hpp"

namespace coppice {

/// How many draws and threads to use.
struct ImputeOptions {
  /// At most this many draws, evenly spaced; 0: all, but no more than 40 million cell x draw predictives (at
  /// least 100 draws), nor more than draws_for_prediction.
  std::size_t most_draws = 0;
  std::size_t threads = 0;  // 0: all; the answer does not depend on it
};

/// The predictive of one missing cell, in the units of the data as read. What does not apply is NaN or empty.
struct ImputedCell {
  std::size_t row = 0;                     // of the table
  std::size_t column = 0;                  // of the table
  double mean = kMissing;                  // of numbers (none on the log scale); of binary cells P(1)
  double sd = kMissing;                    // infinite if a predictive has no variance
  double median = kMissing;                // of numbers
  double probability_of_spike = kMissing;  // of columns with a hurdle
  double low = kMissing;                   // 5 % quantile of numbers; whole for counts
  double high = kMissing;                  // 95 % quantile
  std::vector<double> probabilities;       // of each level of binary and category columns
  std::string level;                       // the most probable one; of counts of a discrete family the value
  double probability = kMissing;           // its probability
};

/// The missing cells of a table.
struct Imputation {
  std::vector<ImputedCell> cells;  // row after row, columns in the table's order
  Table completed;  // means (medians on the log scale and of columns with a hurdle; whole for counts) and
                    // most probable levels filled in; original units
  std::size_t draws = 0;  // that were averaged
};

/// Imputes the missing cells of the run's own table. Error{configuration} for a run on principal components,
/// whose rows had to be complete; Error{usage} if the run has no draws.
Imputation impute(const SavedRun& run, const ImputeOptions& options = {});

/// Imputes the missing cells of new rows (as SavedRun::read_new_rows gives them) given their observed cells:
/// a draw is weighted by its probability of these, so the answer is a ratio of two averages over the draws.
/// Error{configuration} also if columns depend on each other within a cluster, or if the model cannot do it.
Imputation impute(const SavedRun& run, const Table& rows, const ImputeOptions& options = {});
/// Whether that works for an encoded cell, as far as the family is concerned.
bool can_impute_new_cell(const SavedRun& run, std::size_t cell);

}  // namespace coppice
