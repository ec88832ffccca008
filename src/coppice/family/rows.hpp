// The rows of a table in the layout a family reads: one contiguous row of doubles each, columns in the
// family's order, measured from the family's origin.
#pragma once

#include <cstddef>
#include <span>

#include "coppice/base/aligned.hpp"

namespace coppice {

struct Rows {
  std::size_t width = 0;
  AlignedVector cells;
  /// Whether the last cell of a row is its number of copies: the row stands for as many equal ones.
  bool has_copies = false;

  std::size_t size() const { return width == 0 ? 0 : cells.size() / width; }
  const double* operator[](std::size_t row) const { return cells.data() + row * width; }
  double* operator[](std::size_t row) { return cells.data() + row * width; }
  /// Cells of a row without its number of copies.
  std::size_t data_width() const { return width - (has_copies ? 1 : 0); }
  double copies_of(std::size_t row) const { return has_copies ? cells[(row + 1) * width - 1] : 1.0; }
  /// Of all rows together.
  double copies() const {
    if (!has_copies) return static_cast<double>(size());
    double total = 0.0;
    for (std::size_t row = 0; row < size(); ++row) total += copies_of(row);
    return total;
  }
};

/// Some cells of all rows, with their numbers of copies.
inline Rows cells_of_rows(const Rows& rows, std::span<const std::size_t> cells) {
  Rows chosen;
  chosen.has_copies = rows.has_copies;
  chosen.width = cells.size() + (rows.has_copies ? 1 : 0);
  chosen.cells.resize(rows.size() * chosen.width);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t j = 0; j < cells.size(); ++j) chosen[row][j] = rows[row][cells[j]];
    if (rows.has_copies) chosen[row][cells.size()] = rows.copies_of(row);
  }
  return chosen;
}

}  // namespace coppice
