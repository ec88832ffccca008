// The laws of partitions written out once more, for tests: the Dirichlet process, with its concentration
// fixed or integrated against a Gamma prior, and the normalized generalized gamma process, with everything
// but the partition (u, and alpha and sigma unless they are fixed) integrated by trapezoid sums over log t
// and logit sigma. The parameters can also be drawn given a partition. Shares no code with the priors that
// samplers use.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coppice/base/math.hpp"
#include "coppice/base/rng.hpp"

namespace coppice::test {

/// Logs of a density, up to a factor, at equal steps.
struct LogGrid {
  double first = 0.0, step = 0.0;
  std::vector<double> logs = {};

  double log_integral() const { return log_sum_exp(logs) + std::log(step); }
};

/// Draws from such a density: a point of the grid by its weight, then any place within half a step of it.
class GridDraws {
 public:
  explicit GridDraws(const LogGrid& grid) : first_(grid.first), step_(grid.step) {
    const double total = log_sum_exp(grid.logs);
    for (const double log_weight : grid.logs) weights_.push_back(std::exp(log_weight - total));
  }
  double operator()(Stream& stream) const {
    const auto place = static_cast<double>(draw_categorical(stream, weights_));
    return first_ + step_ * (place + draw_uniform(stream) - 0.5);
  }

 private:
  double first_, step_;
  std::vector<double> weights_;
};

/// What the prior of a mixture is: alpha a number or Gamma(shape, rate); for ngg sigma a number or Beta(a,
/// b).
struct MixtureLaw {
  std::optional<double> fixed;
  double shape = 1.0;
  double rate = 1.0;
  bool ngg = false;
  std::optional<double> sigma = std::nullopt;
  double sigma_a = 1.0;
  double sigma_b = 1.0;
};

/// log of alpha^K Gamma(alpha) / Gamma(alpha + n).
inline double log_concentration_term(double log_alpha, double power, double rows) {
  const double alpha = std::exp(log_alpha);
  return power * log_alpha + log_gamma(alpha) - log_gamma(alpha + rows);
}

/// The same times the Gamma prior, as a density of log alpha.
inline LogGrid concentration_grid(const MixtureLaw& law, double power, double rows) {
  LogGrid grid{-60.0, 0.01};
  for (double log_alpha = grid.first; log_alpha <= 12.0; log_alpha += grid.step)
    grid.logs.push_back(log_concentration_term(log_alpha, power, rows) +
                        law.shape * (std::log(law.rate) + log_alpha) - log_gamma(law.shape) -
                        law.rate * std::exp(log_alpha));
  return grid;
}

/// log of the integral of alpha^K Gamma(alpha) / Gamma(alpha + n) against the law of alpha.
inline double log_concentration_factor(const MixtureLaw& law, double power, double rows) {
  if (law.fixed) return log_concentration_term(std::log(*law.fixed), power, rows);
  return concentration_grid(law, power, rows).log_integral();
}

/// Parameters of the prior beside the partition; of the Dirichlet process alpha alone.
struct PartitionParameters {
  double alpha = 1.0, sigma = 0.0, log_t = 0.0;
};

/// p(partition), the means of the parameters given the partition, and draws of them.
class PartitionLaw {
 public:
  using Moments = std::map<std::string, double>;

  PartitionLaw(const MixtureLaw& law, std::size_t rows) : law_(law), rows_(rows) {
    if (law.ngg) {
      integrate();
      return;
    }
    for (std::size_t k = 0; k <= rows + 1; ++k)
      factors_.push_back(log_concentration_factor(law, static_cast<double>(k), static_cast<double>(rows)));
  }

  double log_probability(std::span<const std::size_t> sizes) const {
    return law_.ngg ? log_sum_exp(log_weights(sizes)) : log_factor(sizes) + log_gammas(sizes, 0.0);
  }

  /// Means of alpha and, for ngg, of sigma, log u and its square, and log t.
  Moments moments(std::span<const std::size_t> sizes) const {
    const std::size_t k = sizes.size();
    if (!law_.ngg) return {{"alpha", std::exp(factors_[k + 1] - factors_[k])}};
    const std::vector<double> weights = log_weights(sizes);
    const double total = log_sum_exp(weights);
    Moments mean;
    for (std::size_t j = 0; j < weights.size(); ++j) {
      const double weight = std::exp(weights[j] - total);
      mean["sigma"] += weight * sigmas_[j];
      for (std::size_t i = 0; i < kNames.size(); ++i) mean[kNames[i]] += weight * means_[j][k][i];
    }
    return mean;
  }

  PartitionParameters draw(Stream& stream, std::span<const std::size_t> sizes) {
    const auto clusters = static_cast<double>(sizes.size());
    const auto draws = [&](std::size_t node, auto&& grid) -> const GridDraws& {
      const auto known = draws_.find({node, sizes.size()});
      if (known != draws_.end()) return known->second;
      return draws_.emplace(std::pair{node, sizes.size()}, GridDraws(grid())).first->second;
    };
    if (!law_.ngg) {
      if (law_.fixed) return {*law_.fixed};
      const auto grid = [&] { return concentration_grid(law_, clusters, static_cast<double>(rows_)); };
      return {std::exp(draws(0, grid)(stream))};
    }
    std::vector<double> weights = log_weights(sizes);
    const double total = log_sum_exp(weights);
    for (double& weight : weights) weight = std::exp(weight - total);
    const std::size_t node = draw_categorical(stream, weights);
    PartitionParameters drawn;
    drawn.sigma = sigmas_[node];
    if (!law_.sigma) {
      const double minus_logit = std::log(1.0 / drawn.sigma - 1.0);
      drawn.sigma = 1.0 / (1.0 + std::exp(minus_logit + kLogitStep * (draw_uniform(stream) - 0.5)));
    }
    drawn.log_t = draws(node, [&] {
      LogGrid grid{-45.0, 0.05};
      for (double s = grid.first; s <= 60.0; s += grid.step)
        grid.logs.push_back(std::max(log_auxiliary(s, sigmas_[node], clusters), -1e300));
      return grid;
    })(stream);
    drawn.alpha = law_.fixed
                      ? *law_.fixed
                      : draw_gamma(stream, law_.shape + clusters) / (law_.rate + std::exp(drawn.log_t));
    return drawn;
  }

 private:
  static constexpr double kLogitStep = 0.2;
  static constexpr std::array<const char*, 4> kNames{"alpha", "log_t", "log_u", "log_u squared"};
  using Values = std::array<double, kNames.size()>;

  double log_factor(std::span<const std::size_t> sizes) const { return factors_[sizes.size()]; }

  /// Sum of log Gamma(n_c - sigma) / Gamma(1 - sigma).
  static double log_gammas(std::span<const std::size_t> sizes, double sigma) {
    double total = 0.0;
    for (const std::size_t size : sizes)
      total += log_gamma(static_cast<double>(size) - sigma) - log_gamma(1.0 - sigma);
    return total;
  }

  std::vector<double> log_weights(std::span<const std::size_t> sizes) const {
    std::vector<double> weights;
    for (std::size_t j = 0; j < sigmas_.size(); ++j)
      weights.push_back(log_prior_[j] + log_z_[j][sizes.size()] + log_gammas(sizes, sigmas_[j]));
    return weights;
  }

  void integrate() {
    if (law_.sigma) {
      sigmas_ = {*law_.sigma};
      log_prior_ = {0.0};
    } else {
      for (double x = -16.0; x <= 16.0; x += kLogitStep) {
        const double log_sigma = -std::log1p(std::exp(-x));
        const double log_rest = -std::log1p(std::exp(x));
        sigmas_.push_back(std::exp(log_sigma));
        log_prior_.push_back(law_.sigma_a * log_sigma + law_.sigma_b * log_rest + std::log(kLogitStep) -
                             log_beta(law_.sigma_a, law_.sigma_b));
      }
    }
    for (const double sigma : sigmas_) {
      log_z_.emplace_back(1, 0.0);
      means_.emplace_back(1);
      for (std::size_t k = 1; k <= rows_; ++k) integrate(sigma, static_cast<double>(k));
    }
  }

  /// log of u / (1 + u).
  static double log_share(double log1p_u) { return std::log(-std::expm1(-log1p_u)); }

  /// The integrand of V(n, K) over s = log t, alpha fixed or integrated.
  double log_auxiliary(double s, double sigma, double clusters) const {
    const double t = std::exp(s);
    const double term = s + (static_cast<double>(rows_) - 1.0) * log_share(std::log1p(t) / sigma) +
                        (clusters - 1.0) * std::log1p(t);
    if (law_.fixed) return term + clusters * std::log(*law_.fixed) - *law_.fixed * t;
    return term + law_.shape * std::log(law_.rate) + log_gamma(law_.shape + clusters) -
           log_gamma(law_.shape) - (law_.shape + clusters) * std::log(law_.rate + t);
  }

  void integrate(double sigma, double clusters) {
    constexpr double kStep = 0.05;
    const auto n = static_cast<double>(rows_);
    std::vector<double> logs;
    std::vector<Values> values;
    for (double s = -45.0; s <= 60.0; s += kStep) {
      const double term = log_auxiliary(s, sigma, clusters);
      if (!(term > -1e4)) continue;
      const double t = std::exp(s);
      const double log1p_u = std::log1p(t) / sigma;
      const double alpha = law_.fixed ? *law_.fixed : (law_.shape + clusters) / (law_.rate + t);
      logs.push_back(term);
      const double log_u = log1p_u + log_share(log1p_u);
      values.push_back({alpha, s, log_u, log_u * log_u});
    }
    const double log_z = log_sum_exp(logs);
    Values mean{};
    for (std::size_t i = 0; i < logs.size(); ++i)
      for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += std::exp(logs[i] - log_z) * values[i][j];
    log_z_.back().push_back(log_z + std::log(kStep) + (clusters - 1.0) * std::log(sigma) - log_gamma(n));
    means_.back().push_back(mean);
  }

  MixtureLaw law_;
  std::size_t rows_;
  std::vector<double> factors_;             // Dirichlet process: by the number of clusters
  std::vector<double> sigmas_, log_prior_;  // nodes of the sum over sigma
  std::vector<std::vector<double>> log_z_;  // by node and number of clusters
  std::vector<std::vector<Values>> means_;
  std::map<std::pair<std::size_t, std::size_t>, GridDraws> draws_;  // by node and number of clusters
};

}  // namespace coppice::test
