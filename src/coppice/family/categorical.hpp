// Categorical columns with Dirichlet priors: x ~ Categorical(p), p ~ Dirichlet(c, ..., c) or (c_1, ..., c_L).
// log m = log Gamma(C) - log Gamma(C + n) + sum_l [log Gamma(c_l + n_l) - log Gamma(c_l)], C = sum_l c_l.
// Learned: all c_l = s / L, log s ~ N(log(L / 2), 1).
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coppice/base/math.hpp"
#include "coppice/family/count_table.hpp"
#include "coppice/family/hyper.hpp"
#include "coppice/family/independent.hpp"
#include "coppice/family/inputs.hpp"

namespace coppice {

class CategoricalCell {
 public:
  using Table = TableOf<CountTable>;
  /// One table for each level's concentration, and one for their sum.
  CategoricalCell(std::vector<double> concentration, std::vector<Table> tables, Table total_table)
      : concentration_(std::move(concentration)),
        total_(std::accumulate(concentration_.begin(), concentration_.end(), 0.0)),
        tables_(std::move(tables)),
        total_table_(std::move(total_table)) {}
  /// Learns the concentration, the same for all levels; both tables are its own, the first one for all
  /// levels.
  CategoricalCell(std::size_t levels, double concentration, Table own, Table own_total)
      : concentration_(levels, concentration),
        total_(concentration * static_cast<double>(levels)),
        learns_(true),
        total_table_(std::move(own_total)) {
    tables_.push_back(std::move(own));
  }

  std::size_t levels() const { return concentration_.size(); }
  std::size_t stats_size() const { return levels(); }
  std::size_t theta_size() const { return levels(); }
  /// log p(level); the same with that cell taken out first; nothing.
  std::size_t cache_size() const { return 2 * levels() + 1; }
  double origin() const { return 0.0; }

  void clear(double* stats) const { std::fill_n(stats, levels(), 0.0); }
  void add(double* stats, double x, double copies = 1.0) const {
    stats[static_cast<std::size_t>(x)] += copies;
  }
  bool remove(double* stats, double x, double copies = 1.0) const {
    stats[static_cast<std::size_t>(x)] -= copies;
    return true;
  }
  void merge(double* stats, const double* other) const {
    for (std::size_t l = 0; l < levels(); ++l) stats[l] += other[l];
  }
  double log_marginal(const double* stats) const {
    double total = total_table_->log_gamma_at(0.0) - total_table_->log_gamma_at(count(stats));
    for (std::size_t l = 0; l < levels(); ++l)
      if (stats[l] != 0.0) total += table(l).log_gamma_at(stats[l]) - table(l).log_gamma_at(0.0);
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
  std::size_t likelihood_size() const { return levels(); }
  void fill_likelihood(const double* theta, double* values) const {
    for (std::size_t l = 0; l < levels(); ++l) values[l] = bounded_log(std::log(theta[l]));
  }
  Lanes lane_log_likelihood(const double* values, Lanes x) const {
    Lanes result{};
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      if (!is_missing(x[lane])) result[lane] = values[static_cast<std::size_t>(x[lane])];
    return result;
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
      if (counts[l] != 0) total += table(l).log_gamma_of(counts[l]) - table(l).log_gamma_of(0);
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
      total += table(l).log_gamma_at(cells(l)) - table(l).log_gamma_at(0.0);
    return total;
  }
  /// The code of a singleton: its level, or the number of levels for a missing cell.
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
        total +=
            table(l).log_gamma_at(one[l * kLanes] + (code == l ? 1.0 : 0.0)) - table(l).log_gamma_at(0.0);
      values[code] = total;
    }
  }

  static std::vector<std::string> hyper_names() { return {"concentration"}; }
  std::size_t hyper_size() const { return learns_ ? 1 : 0; }
  void get_hyper(double* values) const { values[0] = concentration_[0]; }
  void set_hyper(const double* values) {
    std::fill(concentration_.begin(), concentration_.end(), values[0]);
    total_ = values[0] * static_cast<double>(levels());
    tables_.front().own().refill(values[0]);
    total_table_.own().refill(total_);
  }
  static bool is_valid_hyper(std::size_t, double value) { return value > 0.0; }
  double log_hyper_prior() const {
    return strength_prior().log_density(total_) + std::log(static_cast<double>(levels()));
  }
  void draw_hyper_prior(Stream& stream) { set_strength(strength_prior().draw(stream)); }
  void update_hyper(std::span<const double* const> clusters, Stream& stream, double power) {
    const auto log_likelihood = [&](double strength) {
      const double weight = strength / static_cast<double>(levels());
      const Lanes log_gamma_weight = log_gamma(broadcast(weight));
      const Lanes log_gamma_strength = log_gamma(broadcast(strength));
      Lanes total{};
      for (std::size_t first = 0; first < clusters.size(); first += kLanes) {
        const std::size_t used = std::min(kLanes, clusters.size() - first);
        Lanes cells{};
        for (std::size_t l = 0; l < levels(); ++l) {
          Lanes own{};
          for (std::size_t lane = 0; lane < used; ++lane) own[lane] = clusters[first + lane][l];
          const LanesInt occurs = own > 0.0;
          if (!any(occurs)) continue;
          cells += own;
          total += log_gamma(weight + own) - log_gamma_weight;
        }
        total += log_gamma_strength - log_gamma(strength + cells);
      }
      double sum = 0.0;
      for (std::size_t lane = 0; lane < kLanes; ++lane) sum += total[lane];
      return power * sum;
    };
    set_strength(strength_prior().update(total_, log_likelihood, stream));
  }
  std::size_t hyper_table_size() const { return 2 * total_table_->size(); }

 private:
  /// Of the sum of the concentrations.
  LogNormal strength_prior() const { return {0.5 * static_cast<double>(levels()), 1.0}; }
  void set_strength(double strength) {
    const double concentration = strength / static_cast<double>(levels());
    set_hyper(&concentration);
  }
  const CountTable& table(std::size_t level) const { return *tables_[learns_ ? 0 : level]; }
  double count(const double* stats) const { return std::accumulate(stats, stats + levels(), 0.0); }
  std::vector<double> concentration_;
  double total_;
  bool learns_ = false;
  std::vector<Table> tables_;
  Table total_table_;
};

FamilyEntry categorical_entry();

}  // namespace coppice
