// What some predictors know beside rows: cells of a new row given those it has, and whole columns that were
// not in the fit. A predictor that knows is a NewCells too.
#pragma once

#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/model/model.hpp"

namespace coppice {

/// What a draw says of a whole column.
struct NewColumn {
  double log_probability = 0.0;                                    // of all its present cells together
  double log_new_view = -std::numeric_limits<double>::infinity();  // the part of it in a view of its own
};

class NewCells {
 public:
  virtual ~NewCells() = default;
  /// mixtures[k] is that of the cell cells[k] of a new row given those it has; it has none of these. Returns
  /// log p(the row's cells | draw), by which draws are weighed against each other. Only for families whose
  /// cells are independent given the cluster.
  virtual double condition_cells(const double* row, std::span<const std::size_t> cells,
                                 std::vector<std::vector<CellComponent>>& mixtures) const = 0;
  /// Of a column given the draw; the family and the rows have it alone.
  virtual NewColumn new_column(const Family& family, const Rows& column) const = 0;
  /// Draws a new row from its predictive.
  virtual void draw_row(Stream& stream, double* row) const = 0;
};

/// A row of one more member of the cluster with these statistics.
inline void draw_member(const Family& family, const double* stats, Stream& stream, double* row) {
  std::vector<double> theta(family.theta_size());
  family.draw_theta(stats, stream, theta.data());
  family.draw(theta.data(), stream, row);
}

/// Components first, first + 1, ... by their log weights, as a mixture. Returns the log of the weights' sum.
inline double make_mixture(std::span<const double> log_weights, std::size_t first,
                           std::vector<CellComponent>& mixture) {
  const double log_total = log_sum_exp(log_weights);
  mixture.clear();
  double kept = 0.0;
  for (std::size_t k = 0; k < log_weights.size(); ++k) {
    const double weight = std::exp(log_weights[k] - log_total);
    if (!(weight >= kNegligiblePart)) continue;
    mixture.push_back({first + k, weight});
    kept += weight;
  }
  for (CellComponent& part : mixture) part.weight /= kept;
  return log_total;
}

}  // namespace coppice
