// Overdispersed counts: x ~ NB(size, p), the failures before `size` successes of probability p, p ~ Beta(a,
// b). With A = a + n size and B = b + sum x: log m = sum log[Gamma(x + size) / (Gamma(size) x!)] + log B(A,
// B) - log B(a, b). The expected mean of a cluster is size b / (a - 1) =: mu, which needs a > 1; with a large
// size this is a Poisson rate with a Gamma(b, b / mu) prior. Learned, with the size on a grid: size uniform
// on the grid, log mu ~ N(log of the column's mean, 1), log b ~ N(0, 1.5^2). Statistics keep the first sum
// for every size of the grid, so that the size may change under them.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coppice/base/math.hpp"
#include "coppice/family/count_table.hpp"
#include "coppice/family/hurdle.hpp"
#include "coppice/family/hyper.hpp"
#include "coppice/family/independent.hpp"
#include "coppice/family/inputs.hpp"

namespace coppice {

/// The sizes there can be, with log[Gamma(x + size) / (Gamma(size) x!)] for each of them.
class SizeGrid {
 public:
  explicit SizeGrid(std::vector<double> sizes) : sizes_(std::move(sizes)) {
    for (std::size_t x = 0; x < kTabulated; ++x)
      for (std::size_t g = 0; g < size(); ++g) table_.push_back(computed(static_cast<double>(x), g));
  }
  /// From 1/8 to 128 in steps of the square root of 2.
  static std::vector<double> learned_sizes() {
    std::vector<double> sizes;
    for (int step = -6; step <= 14; ++step) sizes.push_back(std::exp2(0.5 * step));
    return sizes;
  }

  std::size_t size() const { return sizes_.size(); }
  double operator[](std::size_t g) const { return sizes_[g]; }
  std::size_t nearest(double size) const {
    std::size_t best = 0;
    for (std::size_t g = 1; g < sizes_.size(); ++g)
      if (std::abs(std::log(sizes_[g] / size)) < std::abs(std::log(sizes_[best] / size))) best = g;
    return best;
  }
  double log_coefficient(double x, std::size_t g) const {
    if (x < static_cast<double>(kTabulated)) return table_[static_cast<std::size_t>(x) * size() + g];
    return computed(x, g);
  }
  /// sums[g] += sign * log_coefficient(x, g) for every size.
  void add_to(double* sums, double x, double sign) const {
    if (x < static_cast<double>(kTabulated)) {
      const double* of_x = table_.data() + static_cast<std::size_t>(x) * size();
      for (std::size_t g = 0; g < size(); ++g) sums[g] += sign * of_x[g];
    } else {
      for (std::size_t g = 0; g < size(); ++g) sums[g] += sign * computed(x, g);
    }
  }

 private:
  static constexpr std::size_t kTabulated = 256;
  double computed(double x, std::size_t g) const {
    if (x == 0.0) return 0.0;
    return log_gamma(x + sizes_[g]) - log_gamma(sizes_[g]) - log_factorial(x);
  }
  std::vector<double> sizes_, table_;
};

class NegativeBinomialCell {
 public:
  /// `place` in the grid; `column_mean`: what the learned mean is expected to be like, 0 if nothing is
  /// learned.
  NegativeBinomialCell(std::shared_ptr<const SizeGrid> grid, std::size_t place, double a, double b,
                       double column_mean = 0.0)
      : grid_(std::move(grid)), place_(place), a_(a), b_(b), column_mean_(column_mean) {}

  std::size_t stats_size() const { return kSums + grid_->size(); }  // cells, their sum, sums of coefficients
  std::size_t theta_size() const { return 1; }                      // the odds (1 - p) / p
  std::size_t cache_size() const { return 6; }
  double origin() const { return 0.0; }

  void clear(double* stats) const { std::fill_n(stats, stats_size(), 0.0); }
  void add(double* stats, double x, double copies = 1.0) const { change(stats, x, copies); }
  bool remove(double* stats, double x, double copies = 1.0) const {
    change(stats, x, -copies);
    return true;
  }
  void merge(double* stats, const double* other) const {
    for (std::size_t i = 0; i < stats_size(); ++i) stats[i] += other[i];
  }
  double log_marginal(const double* stats) const {
    return stats[kSums + place_] + log_beta(posterior_a(stats), posterior_b(stats)) - log_prior_;
  }
  double log_predictive(const double* stats, double x) const {
    const double a = posterior_a(stats);
    const double b = posterior_b(stats);
    return log_coefficient(x) + log_beta(a + size_, b + x) - log_beta(a, b);
  }
  void draw_theta(const double* stats, Stream& stream, double* theta) const {
    theta[0] = draw_gamma(stream, posterior_b(stats)) / draw_gamma(stream, posterior_a(stats));
  }
  double draw(const double* theta, Stream& stream) const {
    constexpr double kLargestRate = 1e15;  // beyond it counts are no longer whole numbers
    return static_cast<double>(
        draw_poisson(stream, std::min(theta[0] * draw_gamma(stream, size_), kLargestRate)));
  }
  double log_likelihood(const double* theta, double x) const {
    const double log_p = -std::log1p(theta[0]);
    return log_coefficient(x) + size_ * log_p + (x > 0.0 ? x * (std::log(theta[0]) + log_p) : 0.0);
  }
  std::size_t likelihood_size() const { return 2; }  // log(1 - p), size times log p
  void fill_likelihood(const double* theta, double* values) const {
    const double log_p = -std::log1p(theta[0]);
    values[0] = bounded_log(std::log(theta[0])) + log_p;
    values[1] = size_ * log_p;
  }
  Lanes lane_log_likelihood(const double* values, Lanes x) const { return x * values[0] + values[1]; }

  void fill_cache(const double* stats, double* cache) const {
    const double a = posterior_a(stats);
    const double b = posterior_b(stats);
    const double log_here = log_beta(a, b);
    cache[0] = b;
    cache[kLanes] = a + b + size_;
    cache[2 * kLanes] = log_gamma(a + size_) - log_here;
    cache[3 * kLanes] = log_beta(a + size_, b) - log_here;  // of x = 0
    // With one cell taken out; only read when there is one.
    const bool holds = stats[0] >= 1.0;
    cache[4 * kLanes] = holds ? a + b - size_ : 1.0;
    cache[5 * kLanes] = holds ? log_here - log_gamma(a - size_) : 0.0;
  }
  Lanes lane_log_predictive(const double* cache, double x) const {
    if (x == 0.0) return load_lanes(cache + 3 * kLanes);
    return coppice::log_gamma(load_lanes(cache) + x) - coppice::log_gamma(load_lanes(cache + kLanes) + x) +
           load_lanes(cache + 2 * kLanes) + log_coefficient(x);
  }
  double own_log_predictive(const double* cache, double x) const {
    return log_coefficient(x) + cache[5 * kLanes] - log_gamma(cache[0] - x) +
           log_gamma(cache[4 * kLanes] - x);
  }

  /// Values as binary numbers: plane b holds the bits of weight 2^b.
  std::size_t planes(double largest) const {
    return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(largest)));
  }
  bool is_on(double x, std::size_t plane) const {
    return ((static_cast<std::uint64_t>(x) >> plane) & 1U) != 0;
  }
  double alone_part(double x) const { return log_coefficient(x); }
  double log_marginal_of_counts(const std::uint64_t* counts, std::size_t planes, std::uint64_t cells) const {
    return log_beta(a_ + size_ * static_cast<double>(cells),
                    b_ + static_cast<double>(weighted_sum(counts, planes))) -
           log_prior_;
  }

  std::size_t union_size() const { return 3; }  // cells, their sum, sum of log coefficients
  void fill_union(const double* stats, double* cache) const {
    cache[0] = stats[0];
    cache[kLanes] = stats[1];
    cache[2 * kLanes] = stats[kSums + place_];
  }
  Lanes lane_log_marginal(const double* one, const double* others) const {
    const Lanes a = a_ + size_ * (one[0] + load_lanes(others));
    const Lanes b = b_ + (one[kLanes] + load_lanes(others + kLanes));
    return (one[2 * kLanes] + load_lanes(others + 2 * kLanes)) + coppice::log_gamma(a) +
           coppice::log_gamma(b) - coppice::log_gamma(a + b) - log_prior_;
  }

  CellPredictive predictive(const double* stats) const {
    const double a = posterior_a(stats);
    const double b = posterior_b(stats);
    const double variance =
        a > 2.0 ? size_ * (a + size_ - 1.0) * b * (a + b - 1.0) / ((a - 2.0) * (a - 1.0) * (a - 1.0))
                : std::numeric_limits<double>::infinity();
    return {size_ * b / (a - 1.0), variance, {}};
  }

  static std::vector<std::string> hyper_names() { return {"a", "b", "size"}; }
  std::size_t hyper_size() const { return column_mean_ > 0.0 ? 3 : 0; }
  void get_hyper(double* values) const {
    values[0] = a_;
    values[1] = b_;
    values[2] = size_;
  }
  void set_hyper(const double* values) {
    a_ = values[0];
    b_ = values[1];
    place_ = grid_->nearest(values[2]);
    size_ = (*grid_)[place_];
    log_prior_ = log_beta(a_, b_);
  }
  static bool is_valid_hyper(std::size_t index, double value) { return value > (index == 0 ? 1.0 : 0.0); }
  double log_hyper_prior() const {
    // From (mean, b) to (a, b): the mean is size b / (a - 1).
    return kShapePrior.log_density(b_) + mean_prior().log_density(mean()) + std::log(mean() / (a_ - 1.0)) -
           std::log(static_cast<double>(grid_->size()));
  }
  void draw_hyper_prior(Stream& stream) {
    const auto place = static_cast<std::size_t>(draw_index(stream, grid_->size()));
    const double b = kShapePrior.draw(stream);
    set_mean((*grid_)[place], b, mean_prior().draw(stream));
  }
  void update_hyper(std::span<const double* const> clusters, Stream& stream, double power) {
    const auto log_likelihood = [&](double size, double b, double mean) {
      const double a = 1.0 + b * size / mean;
      return power * sum_over_clusters<kSums>(clusters, [&](const Lanes* stats) {
               const Lanes posterior_a = a + size * stats[0];
               const Lanes posterior_b = b + stats[1];
               return coppice::log_gamma(posterior_a) + coppice::log_gamma(posterior_b) -
                      coppice::log_gamma(posterior_a + posterior_b);
             });
    };
    // Mean and b stay when the size changes: clusters keep their means.
    double mean = this->mean();
    weights_.assign(grid_->size(), 0.0);
    for (std::size_t g = 0; g < weights_.size(); ++g) {
      for (const double* stats : clusters) weights_[g] += power * stats[kSums + g];
      weights_[g] += log_likelihood((*grid_)[g], b_, mean);
    }
    const double top = *std::max_element(weights_.begin(), weights_.end());
    for (double& weight : weights_) weight = std::exp(weight - top);
    const double size = (*grid_)[draw_categorical(stream, weights_)];
    mean = mean_prior().update(mean, [&](double value) { return log_likelihood(size, b_, value); }, stream);
    const double b =
        kShapePrior.update(b_, [&](double value) { return log_likelihood(size, value, mean); }, stream);
    set_mean(size, b, mean);
  }
  static std::size_t hyper_table_size() { return 0; }

 private:
  static constexpr std::size_t kSums = 2;  // where the sums of coefficients begin
  static constexpr LogNormal kShapePrior{1.0, 1.5};
  LogNormal mean_prior() const { return {column_mean_, 1.0}; }
  double mean() const { return size_ * b_ / (a_ - 1.0); }
  void set_mean(double size, double b, double mean) {
    const double values[] = {1.0 + b * size / mean, b, size};
    set_hyper(values);
  }
  double posterior_a(const double* stats) const { return a_ + size_ * stats[0]; }
  double posterior_b(const double* stats) const { return b_ + stats[1]; }
  double log_coefficient(double x) const { return grid_->log_coefficient(x, place_); }
  void change(double* stats, double x, double sign) const {
    stats[0] += sign;
    stats[1] += sign * x;
    grid_->add_to(stats + kSums, x, sign);
  }
  std::shared_ptr<const SizeGrid> grid_;
  std::size_t place_;
  double a_, b_, column_mean_;
  double size_ = (*grid_)[place_];
  double log_prior_ = log_beta(a_, b_);
  std::vector<double> weights_;  // room for update_hyper
};

inline std::vector<NegativeBinomialCell> negative_binomial_cells(const FamilyInputs& inputs) {
  constexpr double kLeastSize = 0.5;  // of the default; moments say less about extreme ones
  constexpr double kMostSize = 100.0;
  std::vector<double> mean, default_size, default_a;
  for (const Column* column : inputs.columns) {
    const ColumnScale scale = column_scale(*column);
    mean.push_back(std::max(scale.mean, 1e-3));
    const double excess = scale.sd * scale.sd - mean.back();
    default_size.push_back(
        excess > 0.0 ? std::clamp(mean.back() * mean.back() / excess, kLeastSize, kMostSize) : kMostSize);
  }
  const std::vector<double> size = inputs.per_column_values("size", default_size, 0.0);
  const std::vector<double> b = inputs.per_column_values("b", for_every_column(inputs, 1.0), 0.0);
  for (std::size_t j = 0; j < mean.size(); ++j) default_a.push_back(1.0 + b[j] * size[j] / mean[j]);
  const std::vector<double> a = inputs.per_column_values("a", default_a, 1.0);
  std::vector<NegativeBinomialCell> cells;
  if (inputs.learns({"size", "a", "b"})) {
    mean = inputs.from_data("data_mean", std::move(mean));
    const auto grid = std::make_shared<const SizeGrid>(SizeGrid::learned_sizes());
    for (std::size_t j = 0; j < mean.size(); ++j) {
      const std::size_t place = grid->nearest(size[j]);
      cells.emplace_back(grid, place, 1.0 + (*grid)[place] / mean[j], 1.0, mean[j]);
    }
    return cells;
  }
  for (std::size_t j = 0; j < mean.size(); ++j)
    cells.emplace_back(std::make_shared<const SizeGrid>(std::vector<double>{size[j]}), 0, a[j], b[j]);
  return cells;
}

inline FamilyEntry negative_binomial_entry() {
  return {.name = "negative-binomial",
          .summary = "overdispersed counts; Beta prior on each success probability",
          .kinds = {Kind::count, Kind::binary},
          .parameters = {positive_parameter(
                             "size", "",
                             "size: the smaller, the more overdispersed; default: from the column's moments"),
                         positive_parameter(
                             "a", "",
                             "first shape of the Beta prior, > 1; default: clusters have the column's mean"),
                         positive_parameter("b", "1", "second shape of the Beta prior")},
          .make = make_columns<negative_binomial_cells>,
          .support = Support::counts,
          .overdispersed = true,
          .make_with_spike = make_columns_with_spike<negative_binomial_cells>};
}

}  // namespace coppice
