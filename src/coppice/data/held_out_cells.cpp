#include "coppice/data/held_out_cells.hpp"

#include <limits>
#include <numeric>

#include "coppice/base/error.hpp"
#include "coppice/base/rng.hpp"

namespace coppice {

std::vector<std::vector<HeldOutCell>> deal_cells(const Table& table, std::size_t folds, std::uint64_t seed) {
  std::vector<HeldOutCell> cells;
  for (std::size_t row = 0; row < table.rows(); ++row)
    for (std::size_t column = 0; column < table.columns.size(); ++column)
      if (const double value = table.columns[column].values[row]; !is_missing(value))
        cells.push_back({row, column, value});
  if (folds < 2) fail(ErrorCode::usage, "{} fold: there must be at least two", folds);
  if (cells.size() < folds)
    fail(ErrorCode::usage, "{} folds of only {} cells that are not missing", folds, cells.size());
  if (cells.size() > std::numeric_limits<std::uint32_t>::max())
    fail(ErrorCode::usage, "{} cells are too many to be dealt out", cells.size());
  std::vector<std::uint32_t> order(cells.size());
  std::iota(order.begin(), order.end(), 0U);
  Stream stream({seed, 0, 0}, Purpose::hold_out);
  shuffle(stream, order);
  std::vector<std::vector<HeldOutCell>> dealt(folds);
  for (std::size_t position = 0; position < order.size(); ++position)
    dealt[position % folds].push_back(cells[order[position]]);
  return dealt;
}

Table without_cells(Table table, std::span<const HeldOutCell> cells) {
  for (const HeldOutCell& cell : cells) table.columns[cell.column].values[cell.row] = kMissing;
  return table;
}

}  // namespace coppice
