// Independent Gaussian columns with normal-inverse-gamma priors:
// x ~ N(mean, v), mean | v ~ N(prior_mean, v / mean_strength), v ~ InvGamma(shape, rate).
// With k = k0 + n, a = a0 + n/2 and b = b0 + SS/2 + k0 n (xbar - m0)^2 / (2k):
// log m = log Gamma(a) - log Gamma(a0) + a0 log b0 - a log b + (1/2) log(k0 / k) - (n/2) log 2 pi.
// Learned, with s the standard deviation of the column: m0 ~ N(column mean, s^2), log k0 ~ N(log 0.1, 1),
// log(2 a0) ~ N(log 8, 1.5^2) with a0 >= 1, log(b0 / a0) ~ N(log(s^2 / 4), 1.5^2) with b0 / a0 >= r^2 / 12
// for values rounded to steps of r.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coppice/base/math.hpp"
#include "coppice/family/centered_moments.hpp"
#include "coppice/family/hyper.hpp"
#include "coppice/family/independent.hpp"
#include "coppice/family/inputs.hpp"

namespace coppice {

/// log Gamma(a0 + (n+1)/2) - log Gamma(a0 + n/2) for n = 0, 1, ..., so that no sampler evaluates log-gamma.
class HalfStepGammas {
 public:
  HalfStepGammas(double start, std::size_t largest);
  double operator[](double n) const;
  /// The same table for another a0, by a recurrence: quick, and within 1e-13 of what the constructor finds.
  void refill(double start);
  std::size_t size() const { return table_.size(); }

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
  /// Eight entries at once, without a table.
  struct Entries {
    Lanes log_factor, shape, shrinkage, per_cell;
  };
  static Entries entries_of(Lanes cells, double mean_strength, double shape, double log_gamma_shape);

 private:
  std::vector<Entry> entries_;
};

/// Hyper-priors of a column with that standard deviation, whose values are rounded to steps of `resolution`
/// (0: they are not).
struct NormalGammaHyperPrior {
  double sd = 1.0;
  double resolution = 0.0;

  static constexpr LogNormal strength() { return {0.1, 1.0}; }
  static constexpr LogNormal dof() { return {8.0, 1.5, 2.0}; }                                  // 2 a0
  LogNormal variance() const { return {0.25 * sd * sd, 1.5, resolution * resolution / 12.0}; }  // b0 / a0
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
  /// Learns all four; the table is its own, and there is none for unions.
  GaussianDiagonalCell(double prior_mean, double mean_strength, double shape, double rate,
                       TableOf<HalfStepGammas> own, const NormalGammaHyperPrior& hyper_prior)
      : prior_mean_(prior_mean),
        k0_(mean_strength),
        a0_(shape),
        b0_(rate),
        learns_(true),
        hyper_prior_(hyper_prior),
        gammas_(std::move(own)) {}

  std::size_t stats_size() const { return CenteredMoments::kSize; }
  std::size_t theta_size() const { return 2; }  // mean, variance
  std::size_t cache_size() const { return 6; }
  double origin() const { return prior_mean_; }

  void clear(double* stats) const { CenteredMoments::clear(stats); }
  void add(double* stats, double x, double copies = 1.0) const { CenteredMoments::add(stats, x, copies); }
  void add_all(double* stats, std::span<const double> values) const {
    CenteredMoments::add_all(stats, values);
  }
  bool remove(double* stats, double x, double copies = 1.0) const {
    const double before = stats[2];
    // Nearly all of the sum of squares taken away: what is left is mostly rounding, unless the prior hides
    // it.
    return CenteredMoments::remove(stats, x, copies) > 1e-7 || before < 1e-6 * b0_;
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
    const double e = x - location(n, stats[1], k);
    return (*gammas_)[n] + 0.5 * (std::log(k / ((k + 1.0) * b)) - kLog2Pi) -
           (a0_ + 0.5 * n + 0.5) * std::log1p(k / (2.0 * (k + 1.0) * b) * e * e);
  }
  void draw_theta(const double* stats, Stream& stream, double* theta) const {
    const double k = k0_ + stats[0];
    theta[1] = rate(stats) / draw_gamma(stream, a0_ + 0.5 * stats[0]);
    theta[0] = location(stats[0], stats[1], k) + std::sqrt(theta[1] / k) * draw_normal(stream);
  }
  double draw(const double* theta, Stream& stream) const {
    return theta[0] + std::sqrt(theta[1]) * draw_normal(stream);
  }
  double log_likelihood(const double* theta, double x) const {
    const double e = x - theta[0];
    return -0.5 * (kLog2Pi + std::log(theta[1]) + e * e / theta[1]);
  }
  std::size_t likelihood_size() const { return 3; }  // mean, log of the factor, half the precision
  void fill_likelihood(const double* theta, double* values) const {
    values[0] = theta[0];
    values[1] = -0.5 * std::log(theta[1]);
    values[2] = 0.5 / theta[1];
  }
  Lanes lane_log_likelihood(const double* values, Lanes x) const {
    const Lanes e = x - values[0];
    return values[1] - values[2] * (e * e);
  }

  void fill_cache(const double* stats, double* cache) const {
    const double n = stats[0];
    const double k = k0_ + n;
    const double b = rate(stats);
    const double a = a0_ + 0.5 * n;
    cache[0] = location(n, stats[1], k);
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
    if (!unions_) {
      const NormalGammaTable::Entries own = entries_of(one[0] + cells);
      return log_marginal_of(one, others, own.log_factor, own.shape, own.shrinkage, own.per_cell);
    }
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
      if (!unions_) {
        const NormalGammaTable::Entries own = entries_of(broadcast(one[0] + static_cast<double>(more)));
        const double parts[] = {own.log_factor[0], own.shape[0], own.shrinkage[0], own.per_cell[0]};
        std::copy_n(parts, 4, values + 4 * more);
        continue;
      }
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
    const double b = rate(stats);
    const double variance =
        a > 1.0 ? b * (k + 1.0) / (k * (a - 1.0)) : std::numeric_limits<double>::infinity();
    return {prior_mean_ + location(stats[0], stats[1], k),
            variance,
            {},
            2.0 * a,
            std::sqrt(b * (k + 1.0) / (k * a))};
  }

  static std::vector<std::string> hyper_names() { return {"prior_mean", "mean_strength", "shape", "rate"}; }
  std::size_t hyper_size() const { return learns_ ? 4 : 0; }
  void get_hyper(double* values) const {
    values[0] = learned_mean_;
    values[1] = k0_;
    values[2] = a0_;
    values[3] = b0_;
  }
  void set_hyper(const double* values) {
    const bool same_shape = values[2] == a0_;
    learned_mean_ = values[0];
    m0_ = learned_mean_ - prior_mean_;
    k0_ = values[1];
    a0_ = values[2];
    b0_ = values[3];
    log_rate_ = a0_ * std::log(b0_);
    log_gamma_shape_ = log_gamma(a0_);
    if (!same_shape) gammas_.own().refill(a0_);
  }
  static bool is_valid_hyper(std::size_t index, double value) { return index == 0 || value > 0.0; }
  double log_hyper_prior() const {
    const double z = m0_ / hyper_prior_.sd;
    // From (2 a0, b0 / a0) to (a0, b0): the factor 2 / a0.
    return -0.5 * (kLog2Pi + z * z) - std::log(hyper_prior_.sd) +
           NormalGammaHyperPrior::strength().log_density(k0_) +
           NormalGammaHyperPrior::dof().log_density(2.0 * a0_) +
           hyper_prior_.variance().log_density(b0_ / a0_) + std::log(2.0 / a0_);
  }
  void draw_hyper_prior(Stream& stream) {
    const double mean = hyper_prior_.sd * draw_normal(stream);
    const double strength = NormalGammaHyperPrior::strength().draw(stream);
    const double shape = 0.5 * NormalGammaHyperPrior::dof().draw(stream);
    const double values[] = {prior_mean_ + mean, strength, shape,
                             shape * hyper_prior_.variance().draw(stream)};
    set_hyper(values);
  }
  void update_hyper(std::span<const double* const> clusters, Stream& stream, double power) {
    double m0 = m0_, k0 = k0_, dof = 2.0 * a0_, variance = b0_ / a0_;
    const auto log_likelihood = [&](bool with_gammas) {
      const double shape = 0.5 * dof;
      const double rate = shape * variance;
      return power * sum_over_clusters<3>(clusters, [&](const Lanes* stats) {
               const Lanes cells = stats[0];
               const Lanes step = stats[1] - m0;
               const Lanes shrink = k0 / (k0 + cells);
               // Lanes without cells have a mean of zero, and cells = 0 takes it out.
               const Lanes posterior = rate + 0.5 * (stats[2] + shrink * cells * step * step);
               const Lanes a = shape + 0.5 * cells;
               const Lanes rest = 0.5 * coppice::log(shrink) - a * coppice::log(posterior);
               return with_gammas ? rest + coppice::log_gamma(a) : rest;
             });
    };
    const auto mean_density = [&](double value) {
      m0 = value;
      const double z = value / hyper_prior_.sd;
      return -0.5 * z * z + log_likelihood(false);
    };
    const double reach = 40.0 * hyper_prior_.sd;
    m0 = draw_slice(stream, mean_density, m0_, hyper_prior_.sd, -reach, reach);
    const auto update = [&](double& parameter, const LogNormal& prior, bool with_gammas) {
      parameter = prior.update(
          parameter,
          [&](double value) {
            parameter = value;
            return log_likelihood(with_gammas);
          },
          stream);
    };
    update(k0, NormalGammaHyperPrior::strength(), false);
    update(variance, hyper_prior_.variance(), false);
    update(dof, NormalGammaHyperPrior::dof(), true);
    const double values[] = {prior_mean_ + m0, k0, 0.5 * dof, 0.5 * dof * variance};
    set_hyper(values);
  }
  std::size_t hyper_table_size() const { return gammas_->size(); }

 private:
  /// Where the cluster's mean is expected.
  double location(double n, double mean, double k) const { return (k0_ * m0_ + n * mean) / k; }
  NormalGammaTable::Entries entries_of(Lanes cells) const {
    return NormalGammaTable::entries_of(cells, k0_, a0_, log_gamma_shape_);
  }
  Lanes log_marginal_of(const double* one, const double* others, Lanes log_factor, Lanes shape,
                        Lanes shrinkage, Lanes per_cell) const {
    const Lanes step = one[kLanes] - load_lanes(others + kLanes);
    const Lanes within = one[2 * kLanes] + load_lanes(others + 2 * kLanes);
    // The sum of the cells' distances from the prior mean.
    const Lanes sum = one[3 * kLanes] + load_lanes(others + 3 * kLanes) - m0_ * (one[0] + load_lanes(others));
    const Lanes squares = within + step * step * (one[0] * load_lanes(others) * per_cell);
    const Lanes rate = b0_ + 0.5 * (squares + sum * sum * shrinkage);
    return log_factor + log_rate_ - shape * coppice::log(rate);
  }
  double rate(const double* stats) const {
    const double step = stats[1] - m0_;
    return b0_ + 0.5 * stats[2] + 0.5 * k0_ * stats[0] / (k0_ + stats[0]) * step * step;
  }
  double prior_mean_;  // the origin; a learned prior mean is m0 away from it
  double k0_, a0_, b0_;
  double learned_mean_ = prior_mean_;  // as it was set, so that a stored one gives the same m0
  double m0_ = 0.0;
  bool learns_ = false;
  NormalGammaHyperPrior hyper_prior_;
  double log_rate_ = a0_ * std::log(b0_);
  double log_gamma_shape_ = log_gamma(a0_);
  TableOf<HalfStepGammas> gammas_;
  std::shared_ptr<const NormalGammaTable> unions_;  // none: entries are computed
};

FamilyEntry gaussian_diagonal_entry();

}  // namespace coppice
