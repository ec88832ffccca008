#include "coppice/prior/cluster_count.hpp"

#include <algorithm>
#include <cmath>

#include "coppice/base/digamma.hpp"
#include "coppice/base/error.hpp"
#include "coppice/base/math.hpp"
#include "coppice/base/special_functions.hpp"

namespace coppice {
namespace {

/// Concentrations and their prior weights, evenly spaced in log alpha: the trapezoidal rule converges faster
/// than any power there, because the density of log alpha is analytic and vanishes at both ends.
struct Quadrature {
  std::vector<double> alphas, weights;

  explicit Quadrature(const GammaPrior& prior) {
    constexpr double kNegligible = -45.0;  // log of a density relative to its mode
    const auto log_density = [&](double t) { return prior.shape * t - prior.rate * std::exp(t); };
    const double mode = std::log(prior.shape / prior.rate);
    const double top = log_density(mode);
    double low = mode;
    double high = mode;
    const double stride = 1.0 / std::sqrt(prior.shape);
    while (log_density(low) - top > kNegligible) low -= stride;
    while (log_density(high) - top > kNegligible) high += std::min(stride, 1.0);
    const double step = 0.2 * std::min(1.0, stride);
    const auto count = static_cast<std::size_t>(std::ceil((high - low) / step)) + 1;
    double total = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
      const double t = low + step * static_cast<double>(i);
      alphas.push_back(std::exp(t));
      weights.push_back(std::exp(log_density(t) - top));
      total += weights.back();
    }
    for (double& weight : weights) weight /= total;
  }
};

/// The concentration with this expected number of clusters, 1 < mean < rows.
double concentration_of_mean(double mean, std::size_t rows) {
  return std::exp(root_between([&](double t) { return cluster_count_moments(std::exp(t), rows).mean - mean; },
                               -40.0, std::log(1e7 * static_cast<double>(rows))));
}

/// For a given shape the rate that gives the mean, which falls as the rate grows.
double rate_of_mean(double shape, double mean, std::size_t rows) {
  const double log_alpha = std::log(concentration_of_mean(mean, rows));
  const auto excess = [&](double log_rate) {
    return cluster_count_moments({shape, std::exp(log_rate)}, rows).mean - mean;
  };
  double low = std::log(shape) - log_alpha - 1.0;
  double high = low + 2.0;
  while (excess(low) <= 0.0) low -= 2.0;
  while (excess(high) >= 0.0) high += 2.0;
  return std::exp(root_between(excess, low, high));
}

/// Rows whose clusters are counted one by one.
constexpr std::size_t kRowsOneByOne = 4000;

/// One more row, which opens a cluster with probability `opens`; the last entry collects what is beyond.
void add_row(std::vector<double>& counts, double opens) {
  const std::size_t most = counts.size();
  if (most > 1) counts[most - 1] += counts[most - 2] * opens;
  for (std::size_t k = most - 1; k-- > 0;)
    counts[k] = counts[k] * (1.0 - opens) + (k > 0 ? counts[k - 1] * opens : 0.0);
}

/// The same for many rows at once: they open a number of clusters of this mean and variance, which is below
/// the mean; binomial.
void add_rows(std::vector<double>& counts, double mean, double variance) {
  if (!(mean > 0.0)) return;
  const double squares = std::max(mean - variance, 1e-12 * mean);  // of the probabilities, summed
  const double trials = std::max(std::ceil(mean), std::round(mean * mean / squares));
  const double share = std::min(mean / trials, 1.0 - 1e-12);
  const std::size_t most = counts.size();
  std::vector<double> opened(most, 0.0);
  double log_p = trials * std::log1p(-share);
  double sum = 0.0;
  for (std::size_t k = 0; k < most && static_cast<double>(k) <= trials; ++k) {
    opened[k] = std::exp(log_p);
    sum += opened[k];
    log_p += std::log((trials - static_cast<double>(k)) / (static_cast<double>(k) + 1.0)) + std::log(share) -
             std::log1p(-share);
  }
  opened[most - 1] += std::max(0.0, 1.0 - sum);
  std::vector<double> all(most, 0.0);
  for (std::size_t k = 0; k < most; ++k)
    for (std::size_t more = 0; more < most; ++more)
      all[std::min(k + more, most - 1)] += counts[k] * opened[more];
  counts = std::move(all);
}

/// Row i opens a cluster with probability alpha / (alpha + i), independently of the rows before it.
std::vector<double> counts_given(double alpha, std::size_t rows, std::size_t most) {
  std::vector<double> counts(most, 0.0);
  counts[0] = 1.0;
  for (std::size_t row = 1; row < std::min(rows, kRowsOneByOne); ++row)
    add_row(counts, alpha / (alpha + static_cast<double>(row)));
  if (rows > kRowsOneByOne) {
    const ClusterCountMoments all = cluster_count_moments(alpha, rows);
    const ClusterCountMoments first = cluster_count_moments(alpha, kRowsOneByOne);
    add_rows(counts, all.mean - first.mean, all.variance - first.variance);
  }
  return counts;
}

void check_mean(std::size_t rows, double mean) {
  if (!(mean > 1.0) || !(mean < static_cast<double>(rows)))
    fail(ErrorCode::configuration,
         "--expect-clusters {}: with {} rows the expected number of clusters lies between 1 and {}", mean,
         rows, rows);
}

}  // namespace

ClusterCountMoments cluster_count_moments(double alpha, std::size_t rows) {
  const double n = static_cast<double>(rows);
  if (alpha > 1e8 * n) return {n, 0.0};  // differences of psi would be lost to rounding
  const double mean = 1.0 + alpha * (digamma(alpha + n) - digamma(alpha + 1.0));
  return {mean, mean - 1.0 + alpha * alpha * (trigamma(alpha + n) - trigamma(alpha + 1.0))};
}

ClusterCountMoments cluster_count_moments(const GammaPrior& prior, std::size_t rows) {
  const Quadrature quadrature(prior);
  double mean = 0.0;
  double second = 0.0;
  for (std::size_t i = 0; i < quadrature.alphas.size(); ++i) {
    const ClusterCountMoments given = cluster_count_moments(quadrature.alphas[i], rows);
    mean += quadrature.weights[i] * given.mean;
    second += quadrature.weights[i] * (given.variance + given.mean * given.mean);
  }
  return {mean, second - mean * mean};
}

std::vector<double> cluster_count_distribution(const GammaPrior& prior, std::size_t rows, std::size_t most) {
  return cluster_count_distribution(Concentration(prior.shape / prior.rate, prior), rows, most);
}

std::vector<double> cluster_count_distribution(const Concentration& concentration, std::size_t rows,
                                               std::size_t most) {
  most = std::clamp<std::size_t>(most, 1, rows);
  if (!concentration.is_learned()) return counts_given(concentration.start(), rows, most);
  const Quadrature quadrature(concentration.prior());
  std::vector<double> result(most, 0.0);
  for (std::size_t a = 0; a < quadrature.alphas.size(); ++a) {
    if (quadrature.weights[a] < 1e-9) continue;
    const std::vector<double> given = counts_given(quadrature.alphas[a], rows, most);
    for (std::size_t k = 0; k < most; ++k) result[k] += quadrature.weights[a] * given[k];
  }
  double total = 0.0;
  for (const double p : result) total += p;
  for (double& p : result) p /= total;
  return result;
}

GammaPrior match_cluster_count(std::size_t rows, double mean) {
  check_mean(rows, mean);
  return {1.0, rate_of_mean(1.0, mean, rows)};
}

GammaPrior match_cluster_count(std::size_t rows, double mean, double sd) {
  check_mean(rows, mean);
  // For a fixed mean the variance falls with the shape, from that of a very diffuse prior to that of a known
  // concentration.
  constexpr double kLeastLogShape = -3.0;  // 0.05
  constexpr double kMostLogShape = 9.2;    // 10,000
  const auto prior_at = [&](double log_shape) {
    const double shape = std::exp(log_shape);
    return GammaPrior{shape, rate_of_mean(shape, mean, rows)};
  };
  const auto sd_at = [&](double log_shape) {
    return std::sqrt(cluster_count_moments(prior_at(log_shape), rows).variance);
  };
  const double least = std::sqrt(cluster_count_moments(concentration_of_mean(mean, rows), rows).variance);
  const double largest = sd_at(kLeastLogShape);
  if (!(sd > least * 1.001) || !(sd < largest))
    fail(ErrorCode::configuration,
         "--expect-clusters {},{}: for {} rows and this mean the standard deviation can be between {:.3g} "
         "and {:.3g}",
         mean, sd, rows, least, largest);
  return prior_at(
      root_between([&](double log_shape) { return sd_at(log_shape) - sd; }, kLeastLogShape, kMostLogShape));
}

}  // namespace coppice
