#include "coppice/data/kinds/few_values.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <vector>

#include "coppice/base/math.hpp"
#include "coppice/data/table.hpp"

namespace coppice {
namespace {

/// How often each number occurs.
using Frequencies = std::map<double, std::size_t>;

constexpr int kSteps = 60;  // of expectation maximization

Frequencies frequencies_of(std::span<const double> cells) {
  Frequencies frequencies;
  for (const double x : cells)
    if (!is_missing(x)) ++frequencies[x];
  return frequencies;
}

/// Log likelihood with the penalty of the Bayesian information criterion for so many parameters.
template <typename LogMass>
double penalized(const Frequencies& frequencies, double cells, double parameters, const LogMass& log_mass) {
  double sum = -0.5 * parameters * std::log(cells);
  for (const auto& [value, count] : frequencies) sum += static_cast<double>(count) * log_mass(value);
  return sum;
}

double penalized_as_categories(const Frequencies& frequencies, const Measure& m) {
  const auto cells = static_cast<double>(m.present);
  return penalized(frequencies, cells, static_cast<double>(m.distinct - 1),
                   [&](double x) { return std::log(static_cast<double>(frequencies.at(x)) / cells); });
}

/// Shares of the parts of a mixture, fitted by expectation maximization. `log_density(k, x)` is that of part
/// k, and `refit(k, weight_of)` adopts what the weighted numbers say; `weight_of(x)` is how many cells of
/// that value are in the part.
template <typename LogDensity, typename Refit>
double penalized_as_mixture(const Frequencies& frequencies, double cells, double parameters,
                            std::vector<double>& shares, const LogDensity& log_density, const Refit& refit) {
  const auto count = static_cast<double>(shares.size());
  const auto log_mass = [&](double x) {
    std::vector<double> terms(shares.size());
    for (std::size_t k = 0; k < shares.size(); ++k) terms[k] = std::log(shares[k]) + log_density(k, x);
    return log_sum_exp(terms);
  };
  std::vector<std::vector<double>> weights(shares.size(), std::vector<double>(frequencies.size()));
  for (int step = 0; step < kSteps; ++step) {
    std::size_t place = 0;
    for (const auto& [value, frequency] : frequencies) {
      const double total = log_mass(value);
      for (std::size_t k = 0; k < shares.size(); ++k)
        weights[k][place] =
            static_cast<double>(frequency) * std::exp(std::log(shares[k]) + log_density(k, value) - total);
      ++place;
    }
    for (std::size_t k = 0; k < shares.size(); ++k) {
      double weight = 1e-9;
      for (const double w : weights[k]) weight += w;
      shares[k] = weight / (cells + count * 1e-9);
      refit(k, weights[k], weight);
    }
  }
  return penalized(frequencies, cells, parameters, log_mass);
}

/// Where the parts of a mixture begin: evenly between the least and the greatest number.
std::vector<double> even_means(double least, double greatest, std::size_t parts) {
  std::vector<double> means(parts);
  for (std::size_t k = 0; k < parts; ++k)
    means[k] = least + (greatest - least) * (static_cast<double>(k) + 0.5) / static_cast<double>(parts);
  return means;
}

/// Counts of rows in several clusters.
double penalized_as_poisson_mixture(const Frequencies& frequencies, const Measure& m, std::size_t parts) {
  std::vector<double> means = even_means(m.least, m.greatest, parts);
  std::vector<double> shares(parts, 1.0 / static_cast<double>(parts));
  return penalized_as_mixture(
      frequencies, static_cast<double>(m.present), 2.0 * static_cast<double>(parts) - 1.0, shares,
      [&](std::size_t k, double x) { return x * std::log(means[k]) - means[k] - log_gamma(x + 1.0); },
      [&](std::size_t k, const std::vector<double>& weights, double weight) {
        double sum = 1e-9;
        std::size_t place = 0;
        for (const auto& entry : frequencies) sum += weights[place++] * entry.first;
        means[k] = sum / weight;
      });
}

/// Measurements of rows in several clusters, rounded to steps of `gap`. `transform` is the scale on which
/// they are normal, and `log_slope` the logarithm of its derivative.
template <typename Transform, typename LogSlope>
double penalized_as_normal_mixture(const Frequencies& frequencies, const Measure& m, std::size_t parts,
                                   const Transform& transform, const LogSlope& log_slope) {
  const double least = transform(frequencies.begin()->first);
  const double greatest = transform(frequencies.rbegin()->first);
  std::vector<double> means = even_means(least, greatest, parts);
  std::vector<double> shares(parts, 1.0 / static_cast<double>(parts));
  std::vector<double> deviations(parts, (greatest - least) / (2.0 * static_cast<double>(parts)));
  return penalized_as_mixture(
      frequencies, static_cast<double>(m.present), 3.0 * static_cast<double>(parts) - 1.0, shares,
      [&](std::size_t k, double x) {
        // Nothing that is rounded is known to vary less than by half a step.
        const double deviation = std::max(deviations[k], 0.5 * m.gap * std::exp(log_slope(x)));
        const double z = (transform(x) - means[k]) / deviation;
        return std::log(m.gap) + log_slope(x) - 0.5 * z * z - 0.5 * kLog2Pi - std::log(deviation);
      },
      [&](std::size_t k, const std::vector<double>& weights, double weight) {
        double mean = 0.0;
        double second = 0.0;
        std::size_t place = 0;
        for (const auto& entry : frequencies) mean += weights[place++] * transform(entry.first) / weight;
        place = 0;
        for (const auto& entry : frequencies) {
          const double d = transform(entry.first) - mean;
          second += weights[place++] * d * d / weight;
        }
        if (weight < 1e-6) return;  // nothing is left in the part
        means[k] = mean;
        deviations[k] = std::sqrt(second);
      });
}

}  // namespace

double evidence_against_counts(std::span<const double> cells, const Measure& m) {
  const Frequencies frequencies = frequencies_of(cells);
  const auto count = static_cast<double>(m.present);
  double best = penalized(frequencies, count, 1.0,
                          [&](double x) { return x * std::log(m.mean) - m.mean - log_gamma(x + 1.0); });
  for (double size = 0.05; size < 2000.0; size *= 1.5)
    best = std::max(best, penalized(frequencies, count, 2.0, [&](double x) {
                      return log_gamma(x + size) - log_gamma(size) - log_gamma(x + 1.0) -
                             size * std::log1p(m.mean / size) + x * std::log(m.mean / (m.mean + size));
                    }));
  for (const std::size_t parts : {std::size_t{2}, std::size_t{3}})
    best = std::max(best, penalized_as_poisson_mixture(frequencies, m, parts));
  best = std::max(best, penalized(frequencies, count, 2.0, [&](double x) {
                    const double z = (x - m.mean) / m.deviation;
                    return -0.5 * z * z - 0.5 * kLog2Pi - std::log(m.deviation);
                  }));
  return penalized_as_categories(frequencies, m) - best;
}

double evidence_against_measurements(std::span<const double> cells, const Measure& m) {
  const Frequencies frequencies = frequencies_of(cells);
  double best = kMinusInfinity;
  for (std::size_t parts = 1; parts <= 3; ++parts) {
    best = std::max(best, penalized_as_normal_mixture(
                              frequencies, m, parts, [](double x) { return x; }, [](double) { return 0.0; }));
    if (m.least > 0.0)
      best = std::max(best, penalized_as_normal_mixture(
                                frequencies, m, parts, [](double x) { return std::log(x); },
                                [](double x) { return -std::log(x); }));
  }
  return penalized_as_categories(frequencies, m) - best;
}

bool are_far_apart(std::span<const double> cells, const Measure& m) {
  constexpr double kWideGap = 1.5;  // times the smallest; less is rounding
  const Frequencies frequencies = frequencies_of(cells);
  std::size_t wide = 0;
  for (auto at = frequencies.begin(); std::next(at) != frequencies.end(); ++at)
    wide += std::next(at)->first - at->first > kWideGap * m.gap ? 1 : 0;
  return 2 * wide > frequencies.size() - 1;
}

}  // namespace coppice
