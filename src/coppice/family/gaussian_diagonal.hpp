// Independent Gaussian columns with normal-inverse-gamma priors:
// x ~ N(mean, v), mean | v ~ N(prior_mean, v / mean_strength), v ~ InvGamma(shape, rate).
// With k = k0 + n, a = a0 + n/2 and b = b0 + SS/2 + k0 n (xbar - m0)^2 / (2k):
// log m = log Gamma(a) - log Gamma(a0) + a0 log b0 - a log b + (1/2) log(k0 / k) - (n/2) log 2 pi.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "coppice/base/math.hpp"
#include "coppice/family/centered_moments.hpp"
#include "coppice/family/independent.hpp"
#include "coppice/family/inputs.hpp"

namespace coppice {

/// log Gamma(a0 + (n+1)/2) - log Gamma(a0 + n/2) for n = 0, 1, ..., so that no sampler evaluates log-gamma.
class HalfStepGammas {
 public:
  HalfStepGammas(double start, std::size_t largest);
  double operator[](double n) const;

 private:
  double start_;
  std::vector<double> table_;
};

/// What the marginal of n cells needs of n alone, for n = 0, 1, ... up to twice all rows.
class NormalGammaTable {
 public:
  NormalGammaTable(double mean_strength, double shape, std::size_t largest);
  struct Entry {
    double log_factor;  // log Gamma(a) - log Gamma(a0) + (1/2) log(k0 / k) - (n/2) log 2 pi
    double shape;       // a
    double shrinkage;   // k0 / (n k); 0 for n = 0
    double per_cell;    // 1 / n; 0 for n = 0
  };
  const Entry& operator[](std::int64_t n) const { return entries_[static_cast<std::size_t>(n)]; }

 private:
  std::vector<Entry> entries_;
};

class GaussianDiagonalCell {
 public:
  GaussianDiagonalCell(double prior_mean, double mean_strength, double shape, double rate,
                       std::shared_ptr<const HalfStepGammas> gammas,
                       std::shared_ptr<const NormalGammaTable> unions)
      : prior_mean_(prior_mean),
        k0_(mean_strength),
        a0_(shape),
        b0_(rate),
        gammas_(std::move(gammas)),
        unions_(std::move(unions)) {}

  std::size_t stats_size() const { return CenteredMoments::kSize; }
  std::size_t theta_size() const { return 2; }  // mean, variance
  std::size_t cache_size() const { return 6; }
  double origin() const { return prior_mean_; }

  void clear(double* stats) const { CenteredMoments::clear(stats); }
  void add(double* stats, double x) const { CenteredMoments::add(stats, x); }
  void add_all(double* stats, std::span<const double> values) const {
    CenteredMoments::add_all(stats, values);
  }
  bool remove(double* stats, double x) const {
    const double before = stats[2];
    // Nearly all of the sum of squares taken away: what is left is mostly rounding, unless the prior hides
    // it.
    return CenteredMoments::remove(stats, x) > 1e-7 || before < 1e-6 * b0_;
  }
  void merge(double* stats, const double* other) const { CenteredMoments::merge(stats, other); }
  double log_marginal(const double* stats) const {
    const double n = stats[0];
    const double a = a0_ + 0.5 * n;
    return log_gamma(a) - log_gamma(a0_) + a0_ * std::log(b0_) - a * std::log(rate(stats)) +
           0.5 * std::log(k0_ / (k0_ + n)) - 0.5 * n * kLog2Pi;
  }
  double log_predictive(const double* stats, double x) const {
    const double n = stats[0];
    const double k = k0_ + n;
    const double b = rate(stats);
    const double e = x - n * stats[1] / k;
    return (*gammas_)[n] + 0.5 * (std::log(k / ((k + 1.0) * b)) - kLog2Pi) -
           (a0_ + 0.5 * n + 0.5) * std::log1p(k / (2.0 * (k + 1.0) * b) * e * e);
  }
  void draw_theta(const double* stats, Stream& stream, double* theta) const {
    const double k = k0_ + stats[0];
    theta[1] = rate(stats) / draw_gamma(stream, a0_ + 0.5 * stats[0]);
    theta[0] = stats[0] * stats[1] / k + std::sqrt(theta[1] / k) * draw_normal(stream);
  }
  double draw(const double* theta, Stream& stream) const {
    return theta[0] + std::sqrt(theta[1]) * draw_normal(stream);
  }
  double log_likelihood(const double* theta, double x) const {
    const double e = x - theta[0];
    return -0.5 * (kLog2Pi + std::log(theta[1]) + e * e / theta[1]);
  }

  void fill_cache(const double* stats, double* cache) const {
    const double n = stats[0];
    const double k = k0_ + n;
    const double b = rate(stats);
    const double a = a0_ + 0.5 * n;
    cache[0] = n * stats[1] / k;
    cache[kLanes] = (*gammas_)[n] + 0.5 * (std::log(k / ((k + 1.0) * b)) - kLog2Pi);
    cache[2 * kLanes] = k / (2.0 * (k + 1.0) * b);
    cache[3 * kLanes] = a + 0.5;
    // The same with one cell taken out of the cluster first; only read when the cluster holds that cell.
    const bool holds = n >= 1.0;
    cache[4 * kLanes] = holds ? (*gammas_)[n - 1.0] + 0.5 * (std::log((k - 1.0) / (k * b)) - kLog2Pi) : 0.0;
    cache[5 * kLanes] = holds ? k / (2.0 * (k - 1.0) * b) : 0.0;
  }
  Lanes lane_log_predictive(const double* cache, double x) const {
    const Lanes e = x - load_lanes(cache);
    return load_lanes(cache + kLanes) -
           load_lanes(cache + 3 * kLanes) * coppice::log(1.0 + load_lanes(cache + 2 * kLanes) * e * e);
  }
  double own_log_predictive(const double* cache, double x) const {
    const double e = x - cache[0];
    const double kept = std::max(1.0 - cache[5 * kLanes] * e * e, 1e-15);
    return cache[4 * kLanes] + (cache[3 * kLanes] - 1.0) * std::log(kept);
  }

  std::size_t union_size() const { return 4; }  // cells, mean, centered sum of squares, sum
  void fill_union(const double* stats, double* cache) const { CenteredMoments::fill_union(stats, cache); }
  Lanes lane_log_marginal(const double* one, const double* others) const {
    const Lanes cells = load_lanes(others);
    const LanesInt index = __builtin_convertvector(one[0] + cells, LanesInt);
    Lanes log_factor, shape, shrinkage, per_cell;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const NormalGammaTable::Entry& entry = (*unions_)[index[lane]];
      log_factor[lane] = entry.log_factor;
      shape[lane] = entry.shape;
      shrinkage[lane] = entry.shrinkage;
      per_cell[lane] = entry.per_cell;
    }
    return log_marginal_of(one, others, log_factor, shape, shrinkage, per_cell);
  }
  static constexpr std::size_t single_size() {
    return 8;
  }  // the entries with a missing and with a present cell
  void fill_single(const double* one, double* values) const {
    for (std::int64_t more = 0; more < 2; ++more) {
      const NormalGammaTable::Entry& entry = (*unions_)[static_cast<std::int64_t>(one[0]) + more];
      const double parts[] = {entry.log_factor, entry.shape, entry.shrinkage, entry.per_cell};
      std::copy_n(parts, 4, values + 4 * more);
    }
  }
  Lanes lane_log_marginal_of_singles(const double* one, const double* others, const double* values) const {
    const LanesInt present = load_lanes(others) > 0.0;
    const auto pick = [&](std::size_t part) {
      return present ? broadcast(values[4 + part]) : broadcast(values[part]);
    };
    return log_marginal_of(one, others, pick(0), pick(1), pick(2), pick(3));
  }

  CellPredictive predictive(const double* stats) const {
    const double k = k0_ + stats[0];
    const double a = a0_ + 0.5 * stats[0];
    const double variance =
        a > 1.0 ? rate(stats) * (k + 1.0) / (k * (a - 1.0)) : std::numeric_limits<double>::infinity();
    return {prior_mean_ + stats[0] * stats[1] / k, variance, {}};
  }

 private:
  Lanes log_marginal_of(const double* one, const double* others, Lanes log_factor, Lanes shape,
                        Lanes shrinkage, Lanes per_cell) const {
    const Lanes step = one[kLanes] - load_lanes(others + kLanes);
    const Lanes within = one[2 * kLanes] + load_lanes(others + 2 * kLanes);
    const Lanes sum = one[3 * kLanes] + load_lanes(others + 3 * kLanes);
    const Lanes squares = within + step * step * (one[0] * load_lanes(others) * per_cell);
    const Lanes rate = b0_ + 0.5 * (squares + sum * sum * shrinkage);
    return log_factor + log_rate_ - shape * coppice::log(rate);
  }
  double rate(const double* stats) const {
    return b0_ + 0.5 * stats[2] + 0.5 * k0_ * stats[0] / (k0_ + stats[0]) * stats[1] * stats[1];
  }
  double prior_mean_, k0_, a0_, b0_;
  double log_rate_ = a0_ * std::log(b0_);
  std::shared_ptr<const HalfStepGammas> gammas_;
  std::shared_ptr<const NormalGammaTable> unions_;
};

FamilyEntry gaussian_diagonal_entry();

}  // namespace coppice
