// What some predictors know beside new rows: the predictive of a training row as if it had not been in the
// data. A predictor that knows is a LeaveOneOut too. Draws come from the posterior given all rows, so for a
// row i with the shape and parameters of all others fixed,
//   1 / p(row i | other rows) = average over draws of 1 / p(row i | other rows, draw without row i),
// and the average of any f(draw without row i) over the posterior without the row is that of f weighted by
// 1 / p(row i | other rows, draw without row i).
#pragma once

#include <cstddef>
#include <span>

namespace coppice {

class LeaveOneOut {
 public:
  virtual ~LeaveOneOut() = default;
  /// `variants` are rows, one after the other, in the place of training row `row`, with any cells missing.
  /// out[k] = log p(present cells of variant k | draw without that row), in the family's units.
  virtual void log_densities_without(std::size_t row, std::span<const double> variants,
                                     std::span<double> out) const = 0;
};

}  // namespace coppice
