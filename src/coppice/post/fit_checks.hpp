// Does the model fit: posterior predictive checks with calibrated tail probabilities.
//
// Columns. One posterior draw says which component every row belongs to; parameters of each component are
// drawn given its rows, and for every cell as many replicates as make 20 places. The place of the cell among
// its replicates (equal ones in random order) is uniform if the model is true: a posterior draw and the data
// are distributed as a prior draw and data made from it, so places are independent given the parameters (the
// pivotal quantities of Johnson 2007; a posterior predictive p-value averaged over draws would gather around
// one half). The tail probability is that of Pearson's chi-square for the places of a column, in 20, 10, 5, 4
// or 2 bins so that at least five cells are expected in each. It sees a wrong shape within clusters: heavy
// tails, skewness, a wrong spread. A yes/no column always fits.
//
// Number of clusters. Under one Chinese restaurant process, the place of the draw's number of clusters in its
// law given the draw's concentration, two-sided, in random order among equal ones.
//
// Limits. Calibrated if the prior does not look at the data. nhcm draws the parameters of the sub-clusters of
// a cluster one by one, though they share a covariance. Of a large table evenly spaced rows are checked.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "coppice/run/saved_run.hpp"

namespace coppice {

/// One column, or the number of clusters.
struct FitCheck {
  std::string name;               // of the column; "number of clusters"
  bool of_column = true;          // else of the number of clusters
  std::size_t column = 0;         // of the table
  std::size_t cells = 0;          // that were placed
  double tail_probability = 1.0;  // uniform if the model is true
  double misplaced = 0.0;         // share of cells that would have to move to another place, beyond chance
  std::vector<double> places;     // share of the cells in each of ten tenths of the places, low to high
  std::string pattern;            // what the places look like, in words; empty if they fit
};

struct FitReport {
  std::vector<FitCheck> checks;     // the least probable first
  std::size_t rows = 0;             // that were checked
  std::size_t chain = 0, draw = 0;  // the posterior draw that was used
  bool fits = true;
  std::string sentence;  // empty if nothing was checked
};

/// The family-wise error rate: a model that is true is said not to fit once in a hundred runs.
inline constexpr double kFitError = 0.01;

/// Empty for models without draws of components (greedy ones and classifiers).
FitReport check_fit(const SavedRun& run, std::size_t most_rows = 4000);

/// Tail probability of Pearson's statistic for places counted in equally probable bins, which are joined
/// until each expects five.
double uniformity(const std::vector<std::size_t>& counts);

}  // namespace coppice
