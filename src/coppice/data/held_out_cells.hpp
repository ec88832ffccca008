// Cells that are held out of a table before a fit, to see afterwards how well the fit predicts them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coppice/data/table.hpp"

namespace coppice {

struct HeldOutCell {
  std::size_t row = 0;
  std::size_t column = 0;
  double value = kMissing;  // as in the table
};

/// Deals all observed cells out to `folds` folds of equal size (or one more), in an order that the seed
/// decides. Error{usage} if there are fewer than two folds or fewer cells than folds.
std::vector<std::vector<HeldOutCell>> deal_cells(const Table& table, std::size_t folds, std::uint64_t seed);

/// The table with these cells missing.
Table without_cells(Table table, std::span<const HeldOutCell> cells);

}  // namespace coppice
