// Independent Gaussian columns with known noise variance: x ~ N(mean, noise_variance), mean ~ N(prior_mean,
// prior_variance). With s2 = noise_variance, t2 = prior_variance, S and Q the sums of x and x^2 from the
// prior mean: log m = -(n/2) log 2 pi - ((n-1)/2) log s2 - (1/2) log(s2 + n t2) - [Q - t2 S^2 / (s2 + n t2)]
// / (2 s2).
#pragma once

#include <algorithm>
#include <cmath>

#include "coppice/base/math.hpp"
#include "coppice/family/centered_moments.hpp"
#include "coppice/family/independent.hpp"
#include "coppice/family/inputs.hpp"

namespace coppice {

class GaussianKnownCell {
 public:
  GaussianKnownCell(double noise_variance, double prior_mean, double prior_variance)
      : noise_(noise_variance), prior_mean_(prior_mean), prior_variance_(prior_variance) {}

  std::size_t stats_size() const { return CenteredMoments::kSize; }
  std::size_t theta_size() const { return 1; }
  std::size_t cache_size() const { return 6; }
  double origin() const { return prior_mean_; }

  void clear(double* stats) const { CenteredMoments::clear(stats); }
  void add(double* stats, double x, double copies = 1.0) const { CenteredMoments::add(stats, x, copies); }
  void add_all(double* stats, std::span<const double> values) const {
    CenteredMoments::add_all(stats, values);
  }
  bool remove(double* stats, double x, double copies = 1.0) const {
    const double before = stats[2];
    const double share = CenteredMoments::remove(stats, x, copies);
    // Predictives do not use the sum of squares, but marginals (splits, merges, the log joint) do: what is
    // left of it after an outlier is mostly rounding, unless the noise hides it.
    return share > 1e-7 || before < 1e-6 * noise_;
  }
  void merge(double* stats, const double* other) const { CenteredMoments::merge(stats, other); }
  double log_marginal(const double* stats) const {
    const double n = stats[0];
    if (n == 0.0) return 0.0;
    const double total = noise_ + n * prior_variance_;
    // Q - t2 S^2 / (s2 + n t2), with the centered sum of squares taken out so that nothing cancels.
    const double quadratic = stats[2] + n * stats[1] * stats[1] * noise_ / total;
    return -0.5 * (n * kLog2Pi + (n - 1.0) * std::log(noise_) + std::log(total) + quadratic / noise_);
  }
  double log_predictive(const double* stats, double x) const {
    return log_normal(x - posterior_mean(stats[0], stats[1]), noise_ + posterior_variance(stats[0]));
  }
  void draw_theta(const double* stats, Stream& stream, double* theta) const {
    theta[0] =
        posterior_mean(stats[0], stats[1]) + std::sqrt(posterior_variance(stats[0])) * draw_normal(stream);
  }
  double draw(const double* theta, Stream& stream) const {
    return theta[0] + std::sqrt(noise_) * draw_normal(stream);
  }
  double log_likelihood(const double* theta, double x) const { return log_normal(x - theta[0], noise_); }
  std::size_t likelihood_size() const { return 1; }
  void fill_likelihood(const double* theta, double* values) const { values[0] = theta[0]; }
  Lanes lane_log_likelihood(const double* values, Lanes x) const {
    const Lanes e = x - values[0];
    return (-0.5 / noise_) * (e * e);
  }

  void fill_cache(const double* stats, double* cache) const {
    const double n = stats[0];
    const double variance = noise_ + posterior_variance(n);
    cache[0] = posterior_mean(n, stats[1]);
    cache[kLanes] = -0.5 * (kLog2Pi + std::log(variance));
    cache[2 * kLanes] = 0.5 / variance;
    // With x taken out: mean' = (n mean - x) / (n - 1) shifts by a multiple of x - mean.
    const double left = std::max(n - 1.0, 0.0);
    const double variance_without = noise_ + posterior_variance(left);
    cache[3 * kLanes] = n * stats[1] * prior_variance_ / (noise_ + left * prior_variance_);
    cache[4 * kLanes] = 1.0 + prior_variance_ / (noise_ + left * prior_variance_);
    cache[5 * kLanes] = variance_without;
  }
  Lanes lane_log_predictive(const double* cache, double x) const {
    const Lanes e = x - load_lanes(cache);
    return load_lanes(cache + kLanes) - load_lanes(cache + 2 * kLanes) * e * e;
  }
  double own_log_predictive(const double* cache, double x) const {
    return log_normal(x * cache[4 * kLanes] - cache[3 * kLanes], cache[5 * kLanes]);
  }

  std::size_t union_size() const { return 4; }  // cells, mean, centered sum of squares, sum
  void fill_union(const double* stats, double* cache) const { CenteredMoments::fill_union(stats, cache); }
  Lanes lane_log_marginal(const double* one, const double* others) const {
    const CenteredMoments::Union joint(one, others);
    const Lanes total = noise_ + joint.cells * prior_variance_;
    const Lanes quadratic = joint.squares + joint.sum * joint.sum * joint.per_cell * noise_ / total;
    return -0.5 * (joint.cells * (kLog2Pi + std::log(noise_)) - std::log(noise_) + coppice::log(total) +
                   quadratic / noise_);
  }

  CellPredictive predictive(const double* stats) const {
    return {prior_mean_ + posterior_mean(stats[0], stats[1]), noise_ + posterior_variance(stats[0]), {}};
  }

 private:
  static double log_normal(double e, double variance) {
    return -0.5 * (kLog2Pi + std::log(variance) + e * e / variance);
  }
  double posterior_variance(double n) const {
    return prior_variance_ * noise_ / (noise_ + n * prior_variance_);
  }
  double posterior_mean(double n, double mean) const {
    return n * mean * prior_variance_ / (noise_ + n * prior_variance_);
  }
  double noise_, prior_mean_, prior_variance_;
};

FamilyEntry gaussian_known_entry();

}  // namespace coppice
