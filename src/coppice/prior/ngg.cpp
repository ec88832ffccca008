#include "coppice/prior/ngg.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "coppice/base/math.hpp"
#include "coppice/base/slice.hpp"

namespace coppice {
namespace {

constexpr double kLeastSigma = 1e-8;
constexpr double kMostSigma = 1.0 - 1e-8;

/// log of u / (1 + u) = 1 - (1 + t)^(-1/sigma).
double log_u_share(double log_t, double sigma) { return std::log(-std::expm1(-ngg_log1p_u(log_t, sigma))); }

/// The integrand of V(n, K) over log t, without what does not depend on t.
struct AuxiliaryLaw {
  double alpha, sigma, rows, clusters;

  double operator()(double log_t) const {
    const double before = rows > 1.0 ? (rows - 1.0) * log_u_share(log_t, sigma) : 0.0;
    return log_t + before + (clusters - 1.0) * log1p_exp(log_t) - alpha * std::exp(log_t);
  }
};

/// Equally spaced values of log t that cover all but e^-40 of the integrand, with its logs.
struct Grid {
  double first = 0.0, step = 0.0;
  std::vector<double> logs;
};

Grid cover(const AuxiliaryLaw& law) {
  constexpr double kCoarse = 0.25;
  constexpr double kDrop = 40.0;
  // Left of `low` the integrand rises at least like t, right of `high` alpha t outweighs every power.
  const double low = std::min(std::log(law.sigma), -std::log(law.alpha)) - 50.0;
  const double high = std::log((4.0 * law.clusters + 400.0) / law.alpha) + 1.0;
  double top = kMinusInfinity;
  for (double s = low; s <= high; s += kCoarse) top = std::max(top, law(s));
  double left = low;
  while (left < high && law(left) < top - kDrop) left += kCoarse;
  double right = high;
  while (right > left && law(right) < top - kDrop) right -= kCoarse;
  Grid grid;
  grid.step = std::min(0.05, 0.2 / std::sqrt(law.clusters));
  grid.first = left - kCoarse;
  const auto count = static_cast<std::size_t>((right - left + 2.0 * kCoarse) / grid.step) + 1;
  for (std::size_t i = 0; i < count; ++i)
    grid.logs.push_back(law(grid.first + grid.step * static_cast<double>(i)));
  return grid;
}

}  // namespace

double BetaPrior::log_density(double value) const {
  return (a - 1.0) * std::log(value) + (b - 1.0) * std::log1p(-value) - log_beta(a, b);
}

double BetaPrior::draw(Stream& stream) const {
  return std::clamp(draw_beta(stream, a, b), kLeastSigma, kMostSigma);
}

double ngg_log1p_u(double log_t, double sigma) { return log1p_exp(log_t) / sigma; }

double ngg_log_u(double log_t, double sigma) { return ngg_log1p_u(log_t, sigma) + log_u_share(log_t, sigma); }

std::size_t draw_ngg_cluster_count(Stream& stream, double alpha, double sigma, std::size_t rows) {
  // Rows that arrive as a Poisson process with the random measure as intensity are draws from its normalized
  // form. At time u clusters have opened as a Poisson process of mean alpha ((1 + u)^sigma - 1); between two
  // openings the n rows in k clusters grow by single rows at the rate (n - k sigma) / (1 + u), which makes
  // the growth negative binomial: a Poisson variable with a Gamma mean.
  double opened = -std::log(draw_uniform(stream));  // the mean at the latest opening
  double n = 1.0;
  double k = 1.0;
  const auto wanted = static_cast<double>(rows);
  while (n < wanted) {
    const double wait = -std::log(draw_uniform(stream));
    const double growth = std::expm1(std::log1p(wait / (alpha + opened)) / sigma);
    opened += wait;
    const double mean = draw_gamma(stream, n - k * sigma) * growth;
    if (!(mean < 2.0 * wanted + 1000.0)) break;  // fewer than the rows that are left: below e^-300
    n += static_cast<double>(draw_poisson(stream, mean));
    if (n >= wanted) break;
    n += 1.0;
    k += 1.0;
  }
  return static_cast<std::size_t>(k);
}

Ngg::Ngg(double alpha, double sigma, std::size_t rows) : ProductPartition(rows) {
  set(alpha, sigma, -std::log(alpha));
}

void Ngg::set(double alpha, double sigma, double log_t) {
  alpha_ = alpha;
  log_t_ = log_t;
  set_discount(sigma);
  set_log_open(std::log(alpha) + std::log(sigma) + log1p_exp(log_t));
}

double Ngg::log_partition_and_u(std::span<const std::uint32_t> sizes) const {
  const auto [total, rows] = log_kappas(sizes);
  const auto n = static_cast<double>(rows);
  const double with_others = rows > 1 ? (n - 1.0) * log_u_share(log_t_, sigma()) : 0.0;
  return total + with_others - ngg_log1p_u(log_t_, sigma()) - log_gamma(n) - alpha_ * std::exp(log_t_);
}

double Ngg::log_v(std::size_t rows, std::size_t clusters) const {
  const auto n = static_cast<double>(rows);
  const auto k = static_cast<double>(clusters);
  const Grid grid = cover({alpha_, sigma(), n, k});
  return k * std::log(alpha_) + (k - 1.0) * std::log(sigma()) - log_gamma(n) + log_sum_exp(grid.logs) +
         std::log(grid.step);
}

double Ngg::log_partition(std::span<const std::uint32_t> sizes) const {
  double total = 0.0;
  std::size_t rows = 0;
  std::size_t clusters = 0;
  for (const std::uint32_t size : sizes) {
    if (size == 0) continue;
    total += log_kappa(size) - log_open();
    rows += size;
    ++clusters;
  }
  return total + log_v(rows, clusters);
}

void Ngg::draw_partition(Stream& stream, std::span<Label> labels) {
  // Row n + 1 opens a cluster with probability V(n+1, K+1) / V(n, K), where
  // V(n, K) = (n - K sigma) V(n+1, K) + V(n+1, K+1); V(n+1, K+1) / V(n+1, K) is the mean of alpha sigma (1 +
  // t) under the law of t for n + 1 rows in K clusters.
  std::vector<double> weights;
  Grid grid;
  for (std::size_t n = 0; n < labels.size(); ++n) {
    const std::size_t clusters = weights.empty() ? 0 : weights.size() - 1;
    if (clusters == 0) {
      labels[n] = 0;
      weights = {1.0 - sigma(), 0.0};
      continue;
    }
    grid = cover({alpha_, sigma(), static_cast<double>(n + 1), static_cast<double>(clusters)});
    const double top = *std::max_element(grid.logs.begin(), grid.logs.end());
    double mass = 0.0;
    double opening = 0.0;
    for (std::size_t i = 0; i < grid.logs.size(); ++i) {
      const double weight = std::exp(grid.logs[i] - top);
      mass += weight;
      opening += weight * (1.0 + std::exp(grid.first + grid.step * static_cast<double>(i)));
    }
    weights.back() = alpha_ * sigma() * opening / mass;
    const std::size_t drawn = draw_categorical(stream, weights);
    labels[n] = static_cast<Label>(drawn);
    if (drawn == clusters) {
      weights.back() = 1.0 - sigma();
      weights.push_back(0.0);
    } else {
      weights[drawn] += 1.0;
    }
  }
  const std::size_t clusters = weights.size() - 1;
  grid = cover({alpha_, sigma(), static_cast<double>(labels.size()), static_cast<double>(clusters)});
  const std::size_t place = draw_from_logs(stream, grid.logs);
  log_t_ = grid.first + grid.step * (static_cast<double>(place) + draw_uniform(stream) - 0.5);
  // The grid's law is already within its step of the right one; the updates take away what is left.
  for (int i = 0; i < 5; ++i) update_auxiliary(stream, labels.size(), clusters);
}

void Ngg::update_auxiliary(Stream& stream, std::size_t rows, std::size_t clusters) {
  const AuxiliaryLaw law{alpha_, sigma(), static_cast<double>(rows), static_cast<double>(clusters)};
  set(alpha_, sigma(), draw_slice(stream, law, log_t_, 1.0));
}

void Ngg::update_alpha(Stream& stream, const GammaPrior& prior, std::size_t clusters) {
  const double drawn = draw_gamma(stream, prior.shape + static_cast<double>(clusters));
  set(std::max(drawn / (prior.rate + std::exp(log_t_)), 1e-300), sigma(), log_t_);
}

void Ngg::update_sigma(Stream& stream, const BetaPrior& prior, std::span<const std::uint32_t> sizes) {
  // Most clusters of a long list are small: those are counted by size.
  constexpr std::size_t kSmall = 64;
  std::array<double, kSmall> small{};
  double clusters = 0.0;
  double rows = 0.0;
  for (const std::uint32_t size : sizes) {
    if (size == 0) continue;
    clusters += 1.0;
    rows += size;
    if (size < kSmall) small[size] += 1.0;
  }
  const auto log_density = [&](double value) {
    if (!(value > kLeastSigma && value < kMostSigma)) return kMinusInfinity;
    double total =
        prior.log_density(value) + (clusters - 1.0) * std::log(value) - clusters * log_gamma(1.0 - value);
    if (rows > 1.0) total += (rows - 1.0) * log_u_share(log_t_, value);
    for (std::size_t size = 1; size < kSmall; ++size)
      if (small[size] != 0.0) total += small[size] * log_gamma(static_cast<double>(size) - value);
    for (const std::uint32_t size : sizes)
      if (size >= kSmall) total += log_gamma(size - value);
    return total;
  };
  const double sigma_now = std::clamp(sigma(), 2.0 * kLeastSigma, 1.0 - 2.0 * (1.0 - kMostSigma));
  set(alpha_, draw_slice(stream, log_density, sigma_now, 0.3, kLeastSigma, kMostSigma), log_t_);
}

}  // namespace coppice
