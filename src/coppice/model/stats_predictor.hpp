// The predictor of models whose components are groups of rows with statistics of all columns.
#pragma once

#include <memory>
#include <span>

#include "coppice/model/learned_draw.hpp"
#include "coppice/model/member_draws.hpp"
#include "coppice/model/model.hpp"

namespace coppice {

class StatsPredictor : public Predictor, public MemberDraws, public LearnedDraw {
 public:
  explicit StatsPredictor(const Problem& problem)
      : own_family_(problem.family->hyper_size() != 0 ? problem.family->clone() : nullptr),
        family_(own_family_ ? own_family_.get() : problem.family) {}

  /// Statistics of the component's rows.
  virtual const double* stats(std::size_t component) const = 0;

  CellPredictive predict_cell(std::size_t component, std::size_t cell) const override {
    return family_->predict_cell(stats(component), cell);
  }
  double log_cell(std::size_t component, std::size_t cell, double value) const override {
    return family_->cell_log_predictive(stats(component), cell, value);
  }
  void draw_members(std::size_t component, std::size_t count, Stream& stream, double* rows) const final {
    draw_members_of(*family_, stats(component), count, stream, rows);
  }
  std::vector<double> learned_values() const override {
    std::vector<double> values(family_->hyper_size());
    family_->get_hyper(values.data());
    return values;
  }

 protected:
  /// The family of the draw: with its learned hyper-parameters.
  const Family& family() const { return *family_; }
  void set_hyper(std::span<const double> values) {
    if (own_family_) own_family_->set_hyper(values.data());
  }

 private:
  std::unique_ptr<Family> own_family_;  // if hyper-parameters are learned
  const Family* family_;
};

}  // namespace coppice
