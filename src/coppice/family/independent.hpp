// The family of rows whose columns are independent given the cluster: a Cell per column (its prior, its
// statistics), missing cells skipped. bernoulli, binomial, categorical, poisson, gaussian-diagonal and
// gaussian-known are this template with their own Cell.
//
// A Cell has: stats_size, theta_size, bank_size, origin; clear, add, remove, merge, log_marginal,
// log_predictive, draw_theta, draw, log_likelihood; fill_bank, lane_log_predictive (eight clusters),
// own_log_predictive (the predictive of x under a cluster that holds x, with x taken out, from the cluster's
// cache); predictive; union_size, fill_union, lane_log_marginal (of one cluster with each of eight). It may
// have single_size, fill_single and lane_log_marginal_of_singles: the same bits, faster, where all nine are
// single rows.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coppice/family/family.hpp"

namespace coppice {

template <typename Cell>
class IndependentColumns final : public Family {
 public:
  IndependentColumns(std::string name, std::vector<Cell> cells)
      : name_(std::move(name)), cells_(std::move(cells)) {
    std::size_t stats = 1;
    std::size_t theta = 0;
    std::size_t bank = 0;
    std::size_t joint = 1;  // the number of rows comes first
    for (const Cell& cell : cells_) {
      places_.push_back({stats, theta, bank * kLanes, joint * kLanes});
      stats += cell.stats_size();
      theta += cell.theta_size();
      bank += cell.bank_size();
      joint += cell.union_size();
    }
    stats_size_ = stats;
    theta_size_ = theta;
    bank_size_ = bank;
    union_size_ = joint;
  }

  std::string_view name() const override { return name_; }
  std::size_t width() const override { return cells_.size(); }
  std::size_t stats_size() const override { return stats_size_; }
  std::size_t theta_size() const override { return theta_size_; }
  std::size_t bank_size() const override { return bank_size_; }
  double origin(std::size_t column) const override { return cells_[column].origin(); }

  void clear(double* stats) const override {
    stats[0] = 0.0;
    for (std::size_t j = 0; j < cells_.size(); ++j) cells_[j].clear(stats + places_[j].stats);
  }
  void add(double* stats, const double* row) const override {
    stats[0] += 1.0;
    for (std::size_t j = 0; j < cells_.size(); ++j)
      if (!is_missing(row[j])) cells_[j].add(stats + places_[j].stats, row[j]);
  }
  bool remove(double* stats, const double* row) const override {
    stats[0] -= 1.0;
    bool accurate = true;
    for (std::size_t j = 0; j < cells_.size(); ++j)
      if (!is_missing(row[j])) accurate &= cells_[j].remove(stats + places_[j].stats, row[j]);
    return accurate;
  }
  void merge(double* stats, const double* other) const override {
    stats[0] += other[0];
    for (std::size_t j = 0; j < cells_.size(); ++j)
      cells_[j].merge(stats + places_[j].stats, other + places_[j].stats);
  }

  double log_marginal(const double* stats) const override {
    double total = 0.0;
    for (std::size_t j = 0; j < cells_.size(); ++j) total += cells_[j].log_marginal(stats + places_[j].stats);
    return total;
  }
  double log_predictive(const double* stats, const double* row) const override {
    double total = 0.0;
    for (std::size_t j = 0; j < cells_.size(); ++j)
      if (!is_missing(row[j])) total += cells_[j].log_predictive(stats + places_[j].stats, row[j]);
    return total;
  }

  void draw_theta(const double* stats, Stream& stream, double* theta) const override {
    for (std::size_t j = 0; j < cells_.size(); ++j)
      cells_[j].draw_theta(stats + places_[j].stats, stream, theta + places_[j].theta);
  }
  void draw(const double* theta, Stream& stream, double* row) const override {
    for (std::size_t j = 0; j < cells_.size(); ++j) row[j] = cells_[j].draw(theta + places_[j].theta, stream);
  }
  double log_likelihood(const double* theta, const double* row) const override {
    double total = 0.0;
    for (std::size_t j = 0; j < cells_.size(); ++j)
      if (!is_missing(row[j])) total += cells_[j].log_likelihood(theta + places_[j].theta, row[j]);
    return total;
  }

  void fill_bank(const double* stats, double* bank) const override {
    for (std::size_t j = 0; j < cells_.size(); ++j)
      cells_[j].fill_bank(stats + places_[j].stats, bank + places_[j].bank);
  }
  void add_log_predictive(const double* row, const double* bank, std::size_t stride, std::size_t chunks,
                          const OwnCluster& own, double* out) const override {
    const std::size_t own_chunk = own.slot / kLanes;
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
      const double* caches = bank + chunk * stride;
      Lanes total = load_lanes(out + chunk * kLanes);
      for (std::size_t j = 0; j < cells_.size(); ++j)
        if (!is_missing(row[j])) total += cells_[j].lane_log_predictive(caches + places_[j].bank, row[j]);
      if (chunk == own_chunk) {
        const std::size_t lane = own.slot % kLanes;
        double without = out[own.slot];
        for (std::size_t j = 0; j < cells_.size(); ++j)
          if (!is_missing(row[j]))
            without += cells_[j].own_log_predictive(caches + places_[j].bank + lane, row[j]);
        total[lane] = without;
      }
      store_lanes(out + chunk * kLanes, total);
    }
  }

  CellPredictive predict_cell(const double* stats, std::size_t column) const override {
    return cells_[column].predictive(stats + places_[column].stats);
  }

  double cell_log_predictive(const double* stats, std::size_t column, double value) const override {
    return cells_[column].log_predictive(stats + places_[column].stats, value);
  }

  std::size_t union_size() const override { return union_size_; }
  void fill_union(const double* stats, double* bank) const override {
    bank[0] = stats[0];
    for (std::size_t j = 0; j < cells_.size(); ++j)
      cells_[j].fill_union(stats + places_[j].stats, bank + places_[j].joint);
  }
  void add_log_marginals(const double* one, const double* bank, std::size_t stride, std::size_t chunks,
                         double* out) const override {
    std::vector<double> single_values;
    if constexpr (kHasSingles) {
      if (one[0] <= 1.0) {
        single_values.resize(Cell::single_size() * cells_.size());
        for (std::size_t j = 0; j < cells_.size(); ++j)
          cells_[j].fill_single(one + places_[j].joint, single_values.data() + j * Cell::single_size());
      }
    }
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
      const double* others = bank + chunk * stride;
      Lanes total = load_lanes(out + chunk * kLanes);
      if constexpr (kHasSingles) {
        if (!single_values.empty() && maximum(load_lanes(others)) <= 1.0) {
          for (std::size_t j = 0; j < cells_.size(); ++j)
            total += cells_[j].lane_log_marginal_of_singles(one + places_[j].joint, others + places_[j].joint,
                                                            single_values.data() + j * Cell::single_size());
          store_lanes(out + chunk * kLanes, total);
          continue;
        }
      }
      for (std::size_t j = 0; j < cells_.size(); ++j)
        total += cells_[j].lane_log_marginal(one + places_[j].joint, others + places_[j].joint);
      store_lanes(out + chunk * kLanes, total);
    }
  }

  std::unique_ptr<Family> of_cells(std::span<const std::size_t> cells) const override {
    std::vector<Cell> chosen;
    for (const std::size_t j : cells) chosen.push_back(cells_[j]);
    return std::make_unique<IndependentColumns>(name_, std::move(chosen));
  }

 private:
  static constexpr bool kHasSingles = requires { Cell::single_size(); };
  struct Place {
    std::size_t stats, theta, bank, joint;
  };
  std::string name_;
  std::vector<Cell> cells_;
  std::vector<Place> places_;
  std::size_t stats_size_ = 0, theta_size_ = 0, bank_size_ = 0, union_size_ = 0;
};

}  // namespace coppice
