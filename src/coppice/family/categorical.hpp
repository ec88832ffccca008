// Categorical columns with Dirichlet priors: x ~ Categorical(p), p ~ Dirichlet(c, ..., c) or (c_1, ..., c_L).
// log m = log Gamma(C) - log Gamma(C + n) + sum_l [log Gamma(c_l + n_l) - log Gamma(c_l)], C = sum_l c_l.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "coppice/base/math.hpp"
#include "coppice/family/count_table.hpp"
#include "coppice/family/independent.hpp"
#include "coppice/family/inputs.hpp"

namespace coppice {

class CategoricalCell {
 public:
  using Table = std::shared_ptr<const CountTable>;
  /// One table for each level's concentration, and one for their sum.
  CategoricalCell(std::vector<double> concentration, std::vector<Table> tables, Table total_table)
      : concentration_(std::move(concentration)),
        total_(std::accumulate(concentration_.begin(), concentration_.end(), 0.0)),
        tables_(std::move(tables)),
        total_table_(std::move(total_table)) {}

  std::size_t levels() const { return concentration_.size(); }
  std::size_t stats_size() const { return levels(); }
  std::size_t theta_size() const { return levels(); }
  /// log p(level); the same with that cell taken out first; nothing.
  std::size_t cache_size() const { return 2 * levels() + 1; }
  double origin() const { return 0.0; }

  void clear(double* stats) const { std::fill_n(stats, levels(), 0.0); }
  void add(double* stats, double x) const { stats[static_cast<std::size_t>(x)] += 1.0; }
  bool remove(double* stats, double x) const {
    stats[static_cast<std::size_t>(x)] -= 1.0;
    return true;
  }
  void merge(double* stats, const double* other) const {
    for (std::size_t l = 0; l < levels(); ++l) stats[l] += other[l];
  }
  double log_marginal(const double* stats) const {
    double total = total_table_->log_gamma_at(0.0) - total_table_->log_gamma_at(count(stats));
    for (std::size_t l = 0; l < levels(); ++l)
      if (stats[l] != 0.0) total += tables_[l]->log_gamma_at(stats[l]) - tables_[l]->log_gamma_at(0.0);
    return total;
  }
  double log_predictive(const double* stats, double x) const {
    const auto level = static_cast<std::size_t>(x);
    return std::log((concentration_[level] + stats[level]) / (total_ + count(stats)));
  }
  void draw_theta(const double* stats, Stream& stream, double* theta) const {
    std::vector<double> posterior(concentration_);
    for (std::size_t l = 0; l < levels(); ++l) posterior[l] += stats[l];
    draw_dirichlet(stream, posterior, {theta, levels()});
  }
  double draw(const double* theta, Stream& stream) const {
    return static_cast<double>(draw_categorical(stream, {theta, levels()}));
  }
  double log_likelihood(const double* theta, double x) const {
    return std::log(theta[static_cast<std::size_t>(x)]);
  }

  void fill_cache(const double* stats, double* cache) const {
    const double cells = count(stats);
    const double log_total = std::log(total_ + cells);
    const double log_total_without = std::log(total_ + std::max(cells - 1.0, 0.0));
    for (std::size_t l = 0; l < levels(); ++l) {
      cache[l * kLanes] = std::log(concentration_[l] + stats[l]) - log_total;
      // One taken from the count, not from the sum: a tiny concentration keeps its digits.
      cache[(levels() + l) * kLanes] =
          std::log(concentration_[l] + std::max(stats[l] - 1.0, 0.0)) - log_total_without;
    }
    cache[2 * levels() * kLanes] = 0.0;
  }
  std::size_t entry(double x) const { return is_missing(x) ? 2 * levels() : static_cast<std::size_t>(x); }
  std::size_t own_entry(double x) const {
    return is_missing(x) ? 2 * levels() : levels() + static_cast<std::size_t>(x);
  }

  CellPredictive predictive(const double* stats) const {
    CellPredictive result;
    const double total = total_ + count(stats);
    for (std::size_t l = 0; l < levels(); ++l) {
      const double p = (concentration_[l] + stats[l]) / total;
      result.probabilities.push_back(p);
      result.mean += p * static_cast<double>(l);
      result.variance += p * static_cast<double>(l * l);
    }
    result.variance -= result.mean * result.mean;
    return result;
  }

  double probability(const double* stats, double x) const {
    const auto level = static_cast<std::size_t>(x);
    if (stats == nullptr) return concentration_[level] / total_;
    return (concentration_[level] + stats[level]) / (total_ + count(stats));
  }
  std::size_t planes(double) const { return levels(); }
  bool is_on(double x, std::size_t level) const { return static_cast<std::size_t>(x) == level; }
  double alone_part(double) const { return 0.0; }
  double log_marginal_of_counts(const std::uint64_t* counts, std::size_t, std::uint64_t cells) const {
    double total = total_table_->log_gamma_of(0) - total_table_->log_gamma_of(cells);
    for (std::size_t l = 0; l < levels(); ++l)
      if (counts[l] != 0) total += tables_[l]->log_gamma_of(counts[l]) - tables_[l]->log_gamma_of(0);
    return total;
  }

  std::size_t union_size() const { return levels() + 1; }  // cells of each level, and of all
  void fill_union(const double* stats, double* cache) const {
    for (std::size_t l = 0; l < levels(); ++l) cache[l * kLanes] = stats[l];
    cache[levels() * kLanes] = count(stats);
  }
  Lanes lane_log_marginal(const double* one, const double* others) const {
    const auto cells = [&](std::size_t l) { return one[l * kLanes] + load_lanes(others + l * kLanes); };
    Lanes total = total_table_->log_gamma_at(0.0) - total_table_->log_gamma_at(cells(levels()));
    for (std::size_t l = 0; l < levels(); ++l)
      total += tables_[l]->log_gamma_at(cells(l)) - tables_[l]->log_gamma_at(0.0);
    return total;
  }
  /// A row by itself: its level, or the number of levels for a missing cell.
  std::size_t codes() const {
    constexpr std::size_t kMostLevels = 16;  // what there is to fill grows with their square
    return levels() <= kMostLevels ? levels() + 1 : 0;
  }
  std::size_t code(const double* stats) const {
    return static_cast<std::size_t>(std::find(stats, stats + levels(), 1.0) - stats);
  }
  void fill_single(const double* one, double* values) const {
    for (std::size_t code = 0; code <= levels(); ++code) {
      const double cells = one[levels() * kLanes] + (code < levels() ? 1.0 : 0.0);
      double total = total_table_->log_gamma_at(0.0) - total_table_->log_gamma_at(cells);
      for (std::size_t l = 0; l < levels(); ++l)
        total += tables_[l]->log_gamma_at(one[l * kLanes] + (code == l ? 1.0 : 0.0)) -
                 tables_[l]->log_gamma_at(0.0);
      values[code] = total;
    }
  }

 private:
  double count(const double* stats) const { return std::accumulate(stats, stats + levels(), 0.0); }
  std::vector<double> concentration_;
  double total_;
  std::vector<Table> tables_;
  Table total_table_;
};

FamilyEntry categorical_entry();

}  // namespace coppice
