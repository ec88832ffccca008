// The learned prior of a column of three levels on a grid, and its marginal likelihood: written out once
// more.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "coppice/base/math.hpp"

namespace coppice::test {

/// Concentrations of the levels: the log of their sum is normal around log 1.5, their means are uniform on
/// the simplex.
class LevelGrid {
 public:
  struct Point {
    std::array<double, 3> concentration;
    double log_weight;
  };

  /// So many points for the sum, and for each of two numbers that are uniform on the unit square.
  LevelGrid(std::size_t of_sum, std::size_t of_means) {
    const auto sums = static_cast<double>(of_sum);
    const auto means = static_cast<double>(of_means);
    for (double i = 0.5; i < sums; i += 1.0) {
      const double z = -6.0 + 12.0 * i / sums;
      const double sum = 1.5 * std::exp(z);
      for (double j = 0.5; j < means; j += 1.0)
        for (double k = 0.5; k < means; k += 1.0) {
          // The first of three uniform shares is above x with probability (1 - x)^2.
          const double first = 1.0 - std::sqrt(j / means);
          const double second = (1.0 - first) * k / means;
          points_.push_back({{sum * first, sum * second, sum * (1.0 - first - second)}, -0.5 * z * z});
        }
    }
    std::vector<double> logs;
    for (const Point& point : points_) logs.push_back(point.log_weight);
    const double total = log_sum_exp(logs);
    for (Point& point : points_) point.log_weight -= total;
  }

  const std::vector<Point>& points() const { return points_; }

  /// log p(cells of one cluster): one after the other, (own weight + own cells so far) / (all weights + cells
  /// so far).
  static double log_marginal(std::span<const double> cells, const std::array<double, 3>& concentration) {
    std::array<double, 3> weights = concentration;
    double all = weights[0] + weights[1] + weights[2];
    double total = 1.0;
    for (const double x : cells) {
      double& own = weights[static_cast<std::size_t>(x)];
      total *= own / all;
      own += 1.0;
      all += 1.0;
    }
    return std::log(total);
  }

 private:
  std::vector<Point> points_;
};

}  // namespace coppice::test
