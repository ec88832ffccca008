// Where predictions of numbers end: a column of numbers that are never negative has none below zero. What is
// said of such a cell (medians, intervals, means, sampled rows) is the model's predictive given that the
// number is not negative. Densities stay those of the model.
#pragma once

#include <vector>

#include "coppice/run/saved_run.hpp"

namespace coppice {

/// The least number of each column of the table, in its units as modeled; minus infinity: there is none.
/// Dates and times count from an origin that could be another, so they have none.
std::vector<double> least_values(const SavedRun& run);

}  // namespace coppice
