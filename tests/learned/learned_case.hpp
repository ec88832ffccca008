// Small tables under a learned Gaussian block, and the pieces that the tests of it share.
#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coppice/base/math.hpp"
#include "coppice/family/gaussian.hpp"
#include "coppice/model/learned_payload.hpp"
#include "coppice/model/registry.hpp"
#include "support/chains.hpp"
#include "support/nrmm_enumeration.hpp"

namespace coppice::test {

inline const ModelEntry& mixture() {
  static const ModelEntry& entry = model_by_name("nrmm");
  return entry;
}

/// Rows of normals in two groups; a cell is missing with the given probability.
inline Rows made_rows(std::size_t n, std::size_t d, double missing, std::uint64_t seed) {
  Stream stream({seed, 0, 0}, Purpose::test, 77);
  Rows rows;
  rows.width = d;
  rows.cells.resize(n * d);
  for (std::size_t i = 0; i < n; ++i) {
    const double center = i % 3 == 0 ? 1.2 : -0.6;
    const double common = draw_normal(stream);
    for (std::size_t j = 0; j < d; ++j) {
      rows[i][j] = center + 0.4 * common + 0.5 * draw_normal(stream);
      if (draw_uniform(stream) < missing) rows[i][j] = kMissing;
    }
  }
  return rows;
}

/// A block with a learned prior for columns of mean zero and these standard deviations.
inline Gaussian learned_block(std::size_t d, std::size_t largest, double sd = 1.0) {
  return Gaussian(std::vector<double>(d, 0.0), std::vector<double>(d, sd), largest);
}

/// Learned values as a prior draw would have them, but neither at the start nor at an end of their range.
inline std::vector<double> some_values(const Family& family, std::uint64_t seed) {
  const std::unique_ptr<Family> copy = family.clone();
  Stream stream({seed, 0, 0}, Purpose::test, 78);
  copy->draw_hyper_prior(stream);
  std::vector<double> values(copy->hyper_size());
  copy->get_hyper(values.data());
  return values;
}

inline std::vector<double> stats_of(const Family& family, const Rows& rows, std::size_t begin,
                                    std::size_t end) {
  std::vector<double> stats(family.stats_size());
  family.clear(stats.data());
  for (std::size_t i = begin; i < end; ++i) family.add(stats.data(), rows[i]);
  return stats;
}

/// log p(cells of one cluster) for one column under kappa, nu, mu0 and Omega, written out once more: sums, no
/// factors.
inline double log_marginal_1d(double n, double sum, double squares, double kappa, double nu, double mean,
                              double omega) {
  const double average = sum / n;
  const double scatter = squares - n * average * average;
  const double rate = nu * omega + scatter + kappa * n / (kappa + n) * (average - mean) * (average - mean);
  return -0.5 * n * kLogPi + log_gamma(0.5 * (nu + n)) - log_gamma(0.5 * nu) +
         0.5 * nu * std::log(nu * omega) - 0.5 * (nu + n) * std::log(rate) +
         0.5 * std::log(kappa / (kappa + n));
}

/// log p(rows of a cluster) with up to two missing cells, which are summed over a grid.
inline double log_marginal_with_holes(const Family& block, const Rows& rows,
                                      std::span<const std::size_t> members, double* mean_of_hole,
                                      std::uint32_t row_of_hole) {
  std::vector<std::pair<std::size_t, std::size_t>> holes;  // place among the members, column
  std::vector<double> cells;
  for (std::size_t m = 0; m < members.size(); ++m)
    for (std::size_t j = 0; j < rows.width; ++j) {
      cells.push_back(rows[members[m]][j]);
      if (is_missing(cells.back())) holes.emplace_back(m, j);
    }
  std::vector<double> logs;
  std::vector<double> values;
  // Heavy tails: the grid is even in asinh.
  constexpr double kStep = 0.05;
  const auto sum = [&](auto&& self, std::size_t hole, double log_jacobian, double value) -> void {
    if (hole == holes.size()) {
      std::vector<double> stats(block.stats_size());
      block.clear(stats.data());
      for (std::size_t m = 0; m < members.size(); ++m) block.add(stats.data(), cells.data() + m * rows.width);
      logs.push_back(block.log_marginal(stats.data()) + log_jacobian);
      values.push_back(value);
      return;
    }
    double& cell = cells[holes[hole].first * rows.width + holes[hole].second];
    for (double t = -9.0; t < 9.0; t += kStep) {
      cell = std::sinh(t);
      const bool wanted = members[holes[hole].first] == row_of_hole;
      self(self, hole + 1, log_jacobian + std::log(kStep * std::cosh(t)), wanted ? cell : value);
    }
    cell = kMissing;
  };
  sum(sum, 0, 0.0, 0.0);
  const double total = log_sum_exp(logs);
  if (mean_of_hole != nullptr) {
    *mean_of_hole = 0.0;
    for (std::size_t i = 0; i < logs.size(); ++i)
      *mean_of_hole += std::exp(logs[i] - total) * values[i] / (1.0 + std::abs(values[i]));
  }
  return total;
}

/// The prior of one column on a grid: points in log kappa, log nu, mu0 and log Omega with their log weights;
/// o is integrated in closed form and w by sums.
class PriorGrid {
 public:
  struct Point {
    double log_kappa, log_nu, mean, log_omega, log_excess_target, log_weight;
  };

  explicit PriorGrid(std::size_t fineness) {
    const double steps = static_cast<double>(fineness);
    // The density of log Omega, and the mean of log w given it (in one dimension w - D + 1 is w).
    struct OmegaPoint {
      double log_omega, log_weight, log_target;
    };
    std::vector<OmegaPoint> omegas;
    for (double i = 0.5; i < steps; i += 1.0) {
      const double log_omega = -7.0 + 10.0 * i / steps;
      const double omega = std::exp(log_omega);
      double total = 0.0;
      double mean = 0.0;
      for (double log_w = 0.025; log_w < std::log(10.0) + 9.0; log_w += 0.05) {  // w is at least one
        const double w = std::exp(log_w);
        const double z = (log_w - std::log(10.0)) / 1.5;
        // W(w, o / w) is a Gamma law of shape w / 2 and rate w / (2 o); o ~ IG(1.5, 0.75).
        const double log_density = -0.5 * z * z + 0.5 * w * std::log(0.5 * w) - log_gamma(0.5 * w) +
                                   0.5 * w * log_omega + 1.5 * std::log(0.75) - log_gamma(1.5) +
                                   log_gamma(1.5 + 0.5 * w) -
                                   (1.5 + 0.5 * w) * std::log(0.75 + 0.5 * w * omega);
        total += std::exp(log_density);
        mean += std::exp(log_density) * log_w;
      }
      omegas.push_back({log_omega, std::log(total), mean / total});
    }
    for (double a = 0.5; a < steps; a += 1.0) {
      const double z_kappa = -4.5 + 9.0 * a / steps;
      for (double b = 0.5; b < steps; b += 1.0) {
        const double log_nu = std::log(2.0) + (std::log(8.0) + 6.0 - std::log(2.0)) * b / steps;
        const double z_nu = (log_nu - std::log(8.0)) / 1.5;
        for (double c = 0.5; c < steps; c += 1.0) {
          const double mean = -4.5 + 9.0 * c / steps;
          for (const OmegaPoint& omega : omegas)
            points_.push_back({std::log(0.1) + z_kappa, log_nu, mean, omega.log_omega, omega.log_target,
                               -0.5 * (z_kappa * z_kappa + z_nu * z_nu + mean * mean) + omega.log_weight});
        }
      }
    }
    std::vector<double> logs;
    for (const Point& point : points_) logs.push_back(point.log_weight);
    const double total = log_sum_exp(logs);
    for (Point& point : points_) point.log_weight -= total;
  }

  const std::vector<Point>& points() const { return points_; }

 private:
  std::vector<Point> points_;
};

}  // namespace coppice::test
