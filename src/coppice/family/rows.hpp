// The rows of a table in the layout a family reads: one contiguous row of doubles each, columns in the
// family's order, measured from the family's origin.
#pragma once

#include <cstddef>

#include "coppice/base/aligned.hpp"

namespace coppice {

struct Rows {
  std::size_t width = 0;
  AlignedVector cells;

  std::size_t size() const { return width == 0 ? 0 : cells.size() / width; }
  const double* operator[](std::size_t row) const { return cells.data() + row * width; }
  double* operator[](std::size_t row) { return cells.data() + row * width; }
};

}  // namespace coppice
