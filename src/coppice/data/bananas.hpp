// Two bent clouds that no ellipse describes: points on two facing arcs of 225 degrees with Gaussian noise in
// all directions, as in the pattern recognition literature.
#pragma once

#include <cstdint>
#include <vector>

#include "coppice/base/rng.hpp"
#include "coppice/data/table.hpp"

namespace coppice {

struct Bananas {
  std::size_t rows = 400;  // the first half is on the first arc
  double radius = 5.0;
  double noise = 0.3;  // standard deviation in each direction

  /// Columns x and y.
  Table draw(Stream& stream) const;
  std::size_t arc(std::size_t row) const { return 2 * row < rows ? 0 : 1; }
};

}  // namespace coppice
