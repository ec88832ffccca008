// Weight, mean and scatter matrix of weighted points: the centered moments of vectors.
#pragma once

#include <algorithm>
#include <cstddef>

namespace coppice {

/// Statistics are 1 + d + d (d + 1) / 2 doubles: total weight, mean, sum of weighted squares about the mean
/// as a packed lower triangle, column by column.
class ScatterMoments {
 public:
  explicit ScatterMoments(std::size_t dimension) : d_(dimension) {}

  std::size_t size() const { return 1 + d_ + d_ * (d_ + 1) / 2; }
  static double weight(const double* stats) { return stats[0]; }
  static const double* mean(const double* stats) { return stats + 1; }
  const double* scatter(const double* stats) const { return stats + 1 + d_; }

  void clear(double* stats) const { std::fill_n(stats, size(), 0.0); }
  void add(double* stats, const double* point) const { add(stats, point, 1.0); }
  void add(double* stats, const double* point, double weight) const {
    const double total = stats[0] + weight;
    add_square(stats, point, stats[0] * weight / total);
    for (std::size_t j = 0; j < d_; ++j) stats[1 + j] += (point[j] - stats[1 + j]) * (weight / total);
    stats[0] = total;
  }
  /// The same without the scatter.
  void move_mean(double* stats, const double* point, double weight = 1.0) const {
    stats[0] += weight;
    for (std::size_t j = 0; j < d_; ++j) stats[1 + j] += weight * (point[j] - stats[1 + j]) / stats[0];
  }
  /// Takes out a point that was added, of a weight that is a whole number.
  void remove(double* stats, const double* point, double weight = 1.0) const {
    const double left = stats[0] - weight;
    if (left < 0.5) return clear(stats);
    for (std::size_t j = 0; j < d_; ++j) stats[1 + j] -= weight * (point[j] - stats[1 + j]) / left;
    stats[0] = left;
    if (left < 1.5)
      std::fill_n(stats + 1 + d_, size() - 1 - d_, 0.0);
    else
      add_square(stats, point, -weight * left / (left + weight));
  }
  /// The points of `other` as a single one of the given weight, with their own scatter.
  void merge(double* stats, const double* other, double weight) const {
    add(stats, mean(other), weight);
    const double* from = scatter(other);
    for (std::size_t i = 1 + d_; i < size(); ++i) stats[i] += *from++;
  }
  void merge(double* stats, const double* other) const { merge(stats, other, other[0]); }

 private:
  void add_square(double* stats, const double* point, double factor) const {
    double* entry = stats + 1 + d_;
    for (std::size_t j = 0; j < d_; ++j) {
      const double step = factor * (point[j] - stats[1 + j]);
      for (std::size_t i = j; i < d_; ++i) *entry++ += step * (point[i] - stats[1 + i]);
    }
  }

  std::size_t d_;
};

}  // namespace coppice
