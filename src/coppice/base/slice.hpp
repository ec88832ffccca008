// Slice sampling of one variable (Neal 2003): stepping out without a limit, then shrinking.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "coppice/base/error.hpp"
#include "coppice/base/rng.hpp"

namespace coppice {

/// One update that leaves the density exp(log_density) on (low, high) invariant. `width` is about the spread
/// of the law and must not depend on `value`. The density must fall to zero toward infinite ends.
template <typename LogDensity>
double draw_slice(Stream& stream, LogDensity&& log_density, double value, double width,
                  double low = -std::numeric_limits<double>::infinity(),
                  double high = std::numeric_limits<double>::infinity()) {
  const double level = log_density(value) + std::log(draw_uniform(stream));
  if (!std::isfinite(level)) fail(ErrorCode::bug, "a slice through a density of log {} at {}", level, value);
  double left = value - width * draw_uniform(stream);
  double right = left + width;
  while (left > low && log_density(left) > level) left -= width;
  while (right < high && log_density(right) > level) right += width;
  left = std::max(left, low);
  right = std::min(right, high);
  for (;;) {
    const double proposed = left + (right - left) * draw_uniform(stream);
    // The interval has shrunk to nothing around the value: rounding leaves no other place.
    if (proposed == value || log_density(proposed) > level) return proposed;
    (proposed < value ? left : right) = proposed;
  }
}

}  // namespace coppice
