// The predictor of models whose components are groups of rows with statistics of all columns.
#pragma once

#include "coppice/model/model.hpp"

namespace coppice {

class StatsPredictor : public Predictor {
 public:
  explicit StatsPredictor(const Problem& problem) : cells_family_(problem.family) {}
  explicit StatsPredictor(const Family& family) : cells_family_(&family) {}

  /// Statistics of the component's rows.
  virtual const double* stats(std::size_t component) const = 0;

  CellPredictive predict_cell(std::size_t component, std::size_t cell) const final {
    return cells_family_->predict_cell(stats(component), cell);
  }
  double log_cell(std::size_t component, std::size_t cell, double value) const final {
    return cells_family_->cell_log_predictive(stats(component), cell, value);
  }

 private:
  const Family* cells_family_;
};

}  // namespace coppice
