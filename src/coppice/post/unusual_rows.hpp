// Which rows are unusual, and because of which cells. A training row is judged by the others: its log density
// is that of the leave-one-out predictive, log p(row i | other rows), computed from the draws by importance
// weights 1 / p(row i | other rows, draw without row i) (left_out.hpp). A new row is judged by the posterior
// predictive. A cell is judged by log p(cell | the other cells of its row, the other rows), compared with
// what is typical of its column: log densities of columns with different units and numbers of levels cannot
// be compared, their differences from the column's mean can. A row's excess is its log density less the sum
// of what is typical of the cells it has, so that rows with missing cells are not favored. Columns on the log
// scale are compared there.
#pragma once

#include <cstddef>
#include <vector>

#include "coppice/post/impute.hpp"
#include "coppice/run/saved_run.hpp"

namespace coppice {

struct UnusualCell {
  std::size_t column = 0;    // of the table
  double value = 0.0;        // in the units of the data; of categories the number of the level
  double log_density = 0.0;  // given the other cells of the row, in the units of the data
  double excess = 0.0;       // above what is typical of the column, nats; negative: less likely than that
  ImputedCell expected;      // what the other cells of the row and the other rows predict
};

struct UnusualRow {
  std::size_t row = 0;             // of the table
  double log_density = 0.0;        // nats, in the units of the data
  double excess = 0.0;             // above the mean of all rows, cells that are missing left out
  std::vector<UnusualCell> cells;  // the responsible ones, the least likely first
};

struct UnusualRows {
  std::vector<UnusualRow> rows;  // the most unusual first
  std::size_t draws = 0;         // that were averaged
};

struct UnusualOptions {
  std::size_t most_rows = 10;  // 0: all
  std::size_t most_cells = 3;  // of each row
  std::size_t most_draws = 0;  // 0: at most 200, and fewer of very large tables
  std::size_t threads = 0;     // 0: all; the answer does not depend on it
};

/// Of the rows of the fit. Error{configuration} for models that cannot leave out a row.
UnusualRows unusual_rows(const SavedRun& run, const UnusualOptions& options = {});
/// Of new rows, as SavedRun::read_new_rows gives them.
UnusualRows unusual_rows(const SavedRun& run, const Table& rows, const UnusualOptions& options = {});

/// log p(row i | other rows, draw without row i) of evenly spaced draws, draw after draw, in the units of the
/// data: the pointwise log likelihood from which leave-one-out measures are computed.
struct PointwiseDensities {
  std::size_t rows = 0;
  std::vector<double> values;  // draws x rows
};
PointwiseDensities pointwise_densities(const SavedRun& run, std::size_t most_draws = 0,
                                       std::size_t threads = 0);

}  // namespace coppice
