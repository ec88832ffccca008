// What a cell of a new row would be if some of its other cells were known: the posterior predictive given
// these. Draws are weighted by the density that they give the known cells. Models whose predictor knows cells
// of new rows are asked for mixtures (impute.hpp); of the others the density is computed at every value of a
// grid (cell_grid.hpp).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coppice/post/impute.hpp"
#include "coppice/run/saved_run.hpp"

namespace coppice {

/// A known cell: the name of its column and its value as it would be in a file.
using KnownCell = std::pair<std::string, std::string>;

/// One new row with the known cells and none else, in the units that the model works in. Error{usage} for a
/// column that the run does not have or that is named twice, Error{bad_data} for a value that does not fit.
Table row_of_known_cells(const SavedRun& run, std::span<const KnownCell> known);

/// The predictives of columns of the table given the present cells of a row, which has none of these.
std::vector<ImputedCell> conditional_cells(const SavedRun& run, const Table& row,
                                           std::span<const std::size_t> columns, std::size_t threads = 0);

/// The column of that name in the table as modeled. Error{usage} if there is none.
std::size_t column_by_name(const SavedRun& run, const std::string& name);

}  // namespace coppice
