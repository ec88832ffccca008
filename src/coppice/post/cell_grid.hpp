// The values that one cell can have, for sums and integrals over it: every value of a discrete column, and
// nodes of the trapezoidal rule for numbers, half of them evenly spaced and half at quantiles of the data, so
// that narrow clusters have nodes too.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "coppice/post/impute.hpp"
#include "coppice/run/saved_run.hpp"

namespace coppice {

struct CellGrid {
  std::vector<double> values;      // ascending, as encoded rows have them; a spike is minus infinity
  std::vector<double> log_widths;  // of each value: what its density counts for; 0 for values with a mass
  bool discrete = false;           // all values have a mass
};

/// Of an encoded cell; `nodes` is about how many values stand for numbers.
CellGrid make_cell_grid(const SavedRun& run, std::size_t cell, std::size_t nodes);

/// The encoded cell of a column of the table.
std::size_t cell_of_column(const SavedRun& run, std::size_t column);

/// Which families need complete rows: Error{configuration} if the run has one, for questions about some cells
/// of a row. `what` is the question.
void need_gaps(const SavedRun& run, const char* what);

/// The distribution over a grid, in the units of the data: log_masses[k] is that of value k up to a constant.
ImputedCell summarize_grid(const SavedRun& run, std::size_t cell, const CellGrid& grid,
                           std::span<const double> log_masses);

}  // namespace coppice
