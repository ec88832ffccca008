// How well a fit predicts cells that were held out of its table: the predictive of a cell is the mixture of
// the predictives of its components, averaged over the draws.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "coppice/data/held_out_cells.hpp"
#include "coppice/run/saved_run.hpp"

namespace coppice {

struct HeldOutScores {
  std::size_t cells = 0;
  double log_predictive = kMissing;  // mean of the log probability or density of the cells
  double rmse = kMissing;            // of the predictive mean of numbers
  double mae = kMissing;
  double mode_accuracy = kMissing;  // share of discrete cells whose most probable value is the true one
};

/// The cells must be missing in the run's table, which must be in the units of the data. Of more than
/// `most_draws` draws (0: draws_for_prediction) evenly spaced ones are used.
HeldOutScores score_held_out(const SavedRun& run, std::span<const HeldOutCell> cells,
                             std::size_t most_draws = 0, std::size_t threads = 0);

/// The same with all rows in one cluster: what the columns tell without any structure.
HeldOutScores score_one_cluster(const ProblemSetup& setup, const Table& table,
                                std::span<const HeldOutCell> cells, std::size_t threads = 0);

}  // namespace coppice
