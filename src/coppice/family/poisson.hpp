// Poisson columns with Gamma priors: x ~ Poisson(lambda), lambda ~ Gamma(shape, rate).
// log m = log Gamma(shape + s) - log Gamma(shape) + shape log rate - (shape + s) log(rate + n) - sum log x!.
// Learned: log(shape / rate) ~ N(log of the column's mean, 1), log shape ~ N(0, 1.5^2).
#pragma once

#include <bit>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "coppice/base/math.hpp"
#include "coppice/family/count_table.hpp"
#include "coppice/family/hyper.hpp"
#include "coppice/family/independent.hpp"
#include "coppice/family/inputs.hpp"

namespace coppice {

class PoissonCell {
 public:
  /// `column_mean`: what the learned prior mean is expected to be like; 0: nothing is learned.
  PoissonCell(double shape, double rate, double column_mean = 0.0)
      : shape_(shape), rate_(rate), column_mean_(column_mean) {}

  std::size_t stats_size() const { return 3; }  // cells, their sum, sum of log x!
  std::size_t theta_size() const { return 1; }
  std::size_t cache_size() const { return 6; }
  double origin() const { return 0.0; }

  void clear(double* stats) const { stats[0] = stats[1] = stats[2] = 0.0; }
  void add(double* stats, double x, double copies = 1.0) const { change(stats, x, copies); }
  bool remove(double* stats, double x, double copies = 1.0) const {
    change(stats, x, -copies);
    return true;
  }
  void merge(double* stats, const double* other) const {
    for (std::size_t i = 0; i < 3; ++i) stats[i] += other[i];
  }
  double log_marginal(const double* stats) const {
    const double shape = shape_ + stats[1];
    return log_gamma(shape) - log_gamma(shape_) + shape_ * std::log(rate_) -
           shape * std::log(rate_ + stats[0]) - stats[2];
  }
  double log_predictive(const double* stats, double x) const {
    const double shape = shape_ + stats[1];
    const double rate = rate_ + stats[0];
    return log_gamma(shape + x) - log_gamma(shape) - log_factorial(x) +
           shape * std::log(rate / (rate + 1.0)) - x * std::log(rate + 1.0);
  }
  void draw_theta(const double* stats, Stream& stream, double* theta) const {
    theta[0] = draw_gamma(stream, shape_ + stats[1]) / (rate_ + stats[0]);
  }
  double draw(const double* theta, Stream& stream) const {
    return static_cast<double>(draw_poisson(stream, theta[0]));
  }
  double log_likelihood(const double* theta, double x) const {
    return (x > 0.0 ? x * std::log(theta[0]) : 0.0) - theta[0] - log_factorial(x);
  }
  std::size_t likelihood_size() const { return 2; }  // log of the rate, the rate
  void fill_likelihood(const double* theta, double* values) const {
    values[0] = bounded_log(std::log(theta[0]));
    values[1] = theta[0];
  }
  Lanes lane_log_likelihood(const double* values, Lanes x) const { return x * values[0] - values[1]; }

  void fill_cache(const double* stats, double* cache) const {
    const double shape = shape_ + stats[1];
    const double rate = rate_ + stats[0];
    const double log_rate = std::log(rate);
    const double log_next = std::log(rate + 1.0);
    // A rate of at most 1 cannot come from a cluster that holds a cell; its value is never read.
    const double log_before = rate > 1.0 ? std::log(rate - 1.0) : 0.0;
    cache[0] = shape;
    cache[kLanes] = shape * (log_rate - log_next) - log_gamma(shape);
    cache[2 * kLanes] = log_next;
    cache[3 * kLanes] = log_gamma(shape) - shape * log_rate;
    cache[4 * kLanes] = log_before;
    cache[5 * kLanes] = shape * (log_rate - log_next);  // x = 0 needs no log-gamma
  }
  Lanes lane_log_predictive(const double* cache, double x) const {
    if (x == 0.0) return load_lanes(cache + 5 * kLanes);
    return coppice::log_gamma(load_lanes(cache) + x) + load_lanes(cache + kLanes) -
           x * load_lanes(cache + 2 * kLanes) - log_factorial(x);
  }
  double own_log_predictive(const double* cache, double x) const {
    const double shape = cache[0] - x;
    return cache[3 * kLanes] - log_gamma(shape) + shape * cache[4 * kLanes] - log_factorial(x);
  }

  /// Values as binary numbers: plane b holds the bits of weight 2^b.
  std::size_t planes(double largest) const {
    return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(largest)));
  }
  bool is_on(double x, std::size_t plane) const {
    return ((static_cast<std::uint64_t>(x) >> plane) & 1U) != 0;
  }
  double alone_part(double x) const { return -log_factorial(x); }
  double log_marginal_of_counts(const std::uint64_t* counts, std::size_t planes, std::uint64_t cells) const {
    const double shape = shape_ + static_cast<double>(weighted_sum(counts, planes));
    return log_gamma(shape) - shape * std::log(rate_ + static_cast<double>(cells)) + log_prior_;
  }

  std::size_t union_size() const { return 3; }  // cells, their sum, sum of log x!
  void fill_union(const double* stats, double* cache) const {
    for (std::size_t i = 0; i < 3; ++i) cache[i * kLanes] = stats[i];
  }
  Lanes lane_log_marginal(const double* one, const double* others) const {
    const Lanes shape = shape_ + (one[kLanes] + load_lanes(others + kLanes));
    return coppice::log_gamma(shape) - shape * coppice::log(rate_ + (one[0] + load_lanes(others))) -
           (one[2 * kLanes] + load_lanes(others + 2 * kLanes)) + log_prior_;
  }

  CellPredictive predictive(const double* stats) const {
    const double shape = shape_ + stats[1];
    const double rate = rate_ + stats[0];
    return {shape / rate, shape / rate * (1.0 + 1.0 / rate), {}};
  }

  static std::vector<std::string> hyper_names() { return {"shape", "rate"}; }
  std::size_t hyper_size() const { return column_mean_ > 0.0 ? 2 : 0; }
  void get_hyper(double* values) const {
    values[0] = shape_;
    values[1] = rate_;
  }
  void set_hyper(const double* values) {
    shape_ = values[0];
    rate_ = values[1];
    log_prior_ = shape_ * std::log(rate_) - log_gamma(shape_);
  }
  static bool is_valid_hyper(std::size_t, double value) { return value > 0.0; }
  double log_hyper_prior() const {
    // From (shape, mean = shape / rate) to (shape, rate).
    return kShapePrior.log_density(shape_) + mean_prior().log_density(shape_ / rate_) + std::log(shape_) -
           2.0 * std::log(rate_);
  }
  void draw_hyper_prior(Stream& stream) {
    const double shape = kShapePrior.draw(stream);
    set_mean(shape, mean_prior().draw(stream));
  }
  void update_hyper(std::span<const double* const> clusters, Stream& stream, double power) {
    const auto log_likelihood = [&](double shape, double mean) {
      const double rate = shape / mean;
      return power * sum_over_clusters<2>(clusters, [&](const Lanes* stats) {
               const Lanes posterior = shape + stats[1];
               return coppice::log_gamma(posterior) - posterior * coppice::log(rate + stats[0]);
             });
    };
    // The part shape log(rate) of each cluster is in the statistics of none, which are subtracted.
    const double mean = mean_prior().update(
        shape_ / rate_, [&](double value) { return log_likelihood(shape_, value); }, stream);
    const double shape =
        kShapePrior.update(shape_, [&](double value) { return log_likelihood(value, mean); }, stream);
    set_mean(shape, mean);
  }
  static std::size_t hyper_table_size() { return 0; }

 private:
  static constexpr LogNormal kShapePrior{1.0, 1.5};
  LogNormal mean_prior() const { return {column_mean_, 1.0}; }
  void set_mean(double shape, double mean) {
    const double values[] = {shape, shape / mean};
    set_hyper(values);
  }
  static void change(double* stats, double x, double sign) {
    stats[0] += sign;
    stats[1] += sign * x;
    stats[2] += sign * log_factorial(x);
  }
  double shape_, rate_, column_mean_;
  double log_prior_ = shape_ * std::log(rate_) - log_gamma(shape_);
};

FamilyEntry poisson_entry();

}  // namespace coppice
