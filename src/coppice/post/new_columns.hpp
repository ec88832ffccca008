// Columns that were not in the fit: how probable their cells are together given the draws' clusters of the
// rows, and how probably each would be in a view of its own. Averages over the stored draws; a draw counts
// for the second by its probability of the column.
#pragma once

#include <cstddef>
#include <vector>

#include "coppice/data/codebook.hpp"
#include "coppice/data/table.hpp"
#include "coppice/run/saved_run.hpp"

namespace coppice {

struct NewColumnAnswer {
  double log_density = 0.0;  // nats, of all present cells together
  double new_view = 0.0;     // probability of a view of its own; 0 for models of one view
};

/// One answer for each column of `columns`, whose rows are those of the run in the same order. The family of
/// each is that of the codebook or of its kind. Error{configuration} if the model does not know.
std::vector<NewColumnAnswer> score_new_columns(const SavedRun& run, const Table& columns,
                                               const Codebook& codebook, std::size_t threads = 0);

}  // namespace coppice
