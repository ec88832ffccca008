// Categorical columns with Dirichlet priors: x ~ Categorical(p), p ~ Dirichlet(c, ..., c) or (c_1, ..., c_L).
// log m = log Gamma(C) - log Gamma(C + n) + sum_l [log Gamma(c_l + n_l) - log Gamma(c_l)], C = sum_l c_l.
// Learned: c = s m, log s ~ N(log(L / 2), 1), m ~ Dirichlet(b, ..., b). In runs of earlier versions all
// elements of m are 1 / L.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
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
  /// Means of the levels that are not learned: all equal.
  static constexpr double kEqualMeans = std::numeric_limits<double>::infinity();

  /// One table for each level's concentration, and one for their sum.
  CategoricalCell(std::vector<double> concentration, std::vector<Table> tables, Table total_table)
      : concentration_(std::move(concentration)),
        total_(std::accumulate(concentration_.begin(), concentration_.end(), 0.0)),
        tables_(std::move(tables)),
        total_table_(std::move(total_table)) {}
  /// Learns the concentrations, whose means have a Dirichlet prior with this weight of every level; the
  /// tables are its own.
  CategoricalCell(std::vector<double> concentration, std::vector<Table> tables, Table total_table,
                  double mean_weight)
      : CategoricalCell(std::move(concentration), std::move(tables), std::move(total_table)) {
    learns_ = true;
    mean_weight_ = mean_weight;
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

  std::vector<std::string> hyper_names() const {
    if (mean_weight_ == kEqualMeans) return {"concentration"};
    std::vector<std::string> names;
    for (std::size_t l = 0; l < levels(); ++l) names.push_back("concentration_" + std::to_string(l + 1));
    return names;
  }
  std::size_t hyper_size() const { return !learns_ ? 0 : mean_weight_ == kEqualMeans ? 1 : levels(); }
  void get_hyper(double* values) const { std::copy_n(concentration_.data(), hyper_size(), values); }
  bool has_hyper(const double* values) const {
    return std::equal(values, values + hyper_size(), concentration_.data());
  }
  void set_hyper(const double* values) {
    if (hyper_size() == 1)
      std::fill(concentration_.begin(), concentration_.end(), values[0]);
    else
      std::copy_n(values, levels(), concentration_.data());
    refill();
  }
  static bool is_valid_hyper(std::size_t, double value) { return value > 0.0; }
  double log_hyper_prior() const {
    const auto count = static_cast<double>(levels());
    const double log_strength = strength_prior().log_density(total_);
    if (mean_weight_ == kEqualMeans) return log_strength + std::log(count);
    // (strength, means) to the concentrations has the Jacobian strength^(1 - levels).
    double log_means = log_gamma(count * mean_weight_) - count * log_gamma(mean_weight_);
    for (const double value : concentration_) log_means += (mean_weight_ - 1.0) * std::log(value / total_);
    return log_strength + log_means - (count - 1.0) * std::log(total_);
  }
  void draw_hyper_prior(Stream& stream) {
    const double strength = strength_prior().draw(stream);
    std::fill(concentration_.begin(), concentration_.end(), 1.0 / static_cast<double>(levels()));
    if (mean_weight_ != kEqualMeans)
      draw_dirichlet(stream, std::vector<double>(levels(), mean_weight_), concentration_);
    for (double& value : concentration_) value = std::max(strength * value, kLeast);
    refill();
  }
  /// Slices: of each level's concentration given the others (of many levels some, drawn by the stream), and
  /// of their sum given the means.
  void update_hyper(std::span<const double* const> clusters, Stream& stream, double power) {
    count_cells(clusters);
    if (mean_weight_ != kEqualMeans) {
      const std::size_t count = std::min(levels(), kMostSlices);
      std::size_t level = count < levels() ? draw_index(stream, levels()) : 0;
      for (std::size_t i = 0; i < count; ++i, level = (level + 1) % levels())
        update_level(level, stream, power);
    }
    update_strength(stream, power);
    refill();
  }
  /// Slices of one update.
  std::size_t hyper_slices() const {
    return mean_weight_ == kEqualMeans ? 1 : std::min(levels(), kMostSlices) + 1;
  }
  std::size_t hyper_table_size() const {
    std::size_t size = total_table_->size();
    for (const Table& own : tables_) size += own->size();
    return size;
  }

 private:
  static constexpr std::size_t kMostSlices = 16;  // of levels, in one update
  static constexpr double kLeast = 1e-26;         // of a concentration: below there is no mass

  /// Of the sum of the concentrations.
  LogNormal strength_prior() const { return {0.5 * static_cast<double>(levels()), 1.0}; }

  /// The numbers of cells of each level in the clusters that have any, and of all levels; zeros, which count
  /// nothing, fill up lanes.
  void count_cells(std::span<const double* const> clusters) {
    cells_.clear();
    first_.assign(1, 0);
    const auto end = [&] {
      cells_.resize((cells_.size() + kLanes - 1) / kLanes * kLanes);
      first_.push_back(cells_.size());
    };
    for (std::size_t l = 0; l < levels(); ++l) {
      for (const double* stats : clusters)
        if (stats[l] != 0.0) cells_.push_back(stats[l]);
      end();
    }
    for (const double* stats : clusters) cells_.push_back(count(stats));
    end();
  }
  /// Sum of log Gamma(weight + n) - log Gamma(weight) over the numbers n of a level, or of all levels.
  double log_rising(std::size_t level, double weight) const {
    if (first_[level] == first_[level + 1]) return 0.0;
    const Lanes none = log_gamma(broadcast(weight));
    Lanes total{};
    for (std::size_t i = first_[level]; i < first_[level + 1]; i += kLanes)
      total += log_gamma(weight + load_lanes(cells_.data() + i)) - none;
    double sum = 0.0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) sum += total[lane];
    return sum;
  }
  void update_level(std::size_t level, Stream& stream, double power) {
    const LogNormal prior = strength_prior();
    double others = 0.0;
    for (std::size_t l = 0; l < levels(); ++l)
      if (l != level) others += concentration_[l];
    const double all_weights = mean_weight_ * static_cast<double>(levels());
    const auto log_density = [&](double log_value) {
      const double value = std::exp(log_value);
      const double total = others + value;
      const double log_total = std::log(total);
      return mean_weight_ * log_value + prior.log_kernel(log_total) - all_weights * log_total +
             power * (log_rising(level, value) - log_rising(levels(), total));
    };
    constexpr double kReach = 20.0;  // standard deviations of the sum: beyond them there is nothing
    const double low = std::log(kLeast);
    const double high = std::log(prior.center) + kReach * prior.sd;
    double& own = concentration_[level];
    own = std::exp(draw_slice(stream, log_density, std::clamp(std::log(own), low, high), 1.0, low, high));
  }
  void update_strength(Stream& stream, double power) {
    const double before = std::accumulate(concentration_.begin(), concentration_.end(), 0.0);
    const auto log_likelihood = [&](double strength) {
      double sum = -log_rising(levels(), strength);
      for (std::size_t l = 0; l < levels(); ++l) sum += log_rising(l, strength / before * concentration_[l]);
      return power * sum;
    };
    const double factor = strength_prior().update(before, log_likelihood, stream) / before;
    for (double& value : concentration_) value = std::max(factor * value, kLeast);
  }
  /// What follows the concentrations.
  void refill() {
    total_ = std::accumulate(concentration_.begin(), concentration_.end(), 0.0);
    for (std::size_t l = 0; l < levels(); ++l) tables_[l].own().refill(concentration_[l]);
    total_table_.own().refill(total_);
  }
  const CountTable& table(std::size_t level) const { return *tables_[level]; }
  double count(const double* stats) const { return std::accumulate(stats, stats + levels(), 0.0); }

  std::vector<double> concentration_;
  double total_;
  bool learns_ = false;
  double mean_weight_ = kEqualMeans;
  std::vector<Table> tables_;
  Table total_table_;
  std::vector<double> cells_;       // room for count_cells
  std::vector<std::size_t> first_;  // where the numbers of each level begin in it
};

FamilyEntry categorical_entry();

}  // namespace coppice
