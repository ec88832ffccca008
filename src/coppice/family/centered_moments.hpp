// Count, mean and centered sum of squares of one column (Welford): the statistics of Gaussian cells.
#pragma once

#include <algorithm>
#include <span>

#include "coppice/base/lanes.hpp"

namespace coppice {

/// Statistics are three doubles: cells, their mean, centered sum of squares.
struct CenteredMoments {
  static constexpr int kSize = 3;

  static void clear(double* stats) { stats[0] = stats[1] = stats[2] = 0.0; }
  static void add(double* stats, double x, double copies = 1.0) {
    const double step = x - stats[1];
    stats[0] += copies;
    stats[1] += copies * step / stats[0];
    stats[2] += copies * step * (x - stats[1]);
  }
  /// All values into empty statistics: the mean first, then the squares around it.
  static void add_all(double* stats, std::span<const double> values) {
    const auto count = static_cast<double>(values.size());
    const double mean = sum(values, [](Lanes x) { return x; }) / count;
    const double squares = sum(values, [mean](Lanes x) { return (x - mean) * (x - mean); });
    // What rounding left of the mean.
    const double rest = sum(values, [mean](Lanes x) { return x - mean; }) / count;
    stats[0] = count;
    stats[1] = mean + rest;
    stats[2] = std::max(0.0, squares - count * rest * rest);
  }
  /// Returns the share of the sum of squares that is left (1 if there was none): tiny means mostly rounding.
  static double remove(double* stats, double x, double copies = 1.0) {
    const double left = stats[0] - copies;
    if (left < 1.0) {
      clear(stats);
      return 1.0;
    }
    const double step = x - stats[1];
    const double before = stats[2];
    stats[0] = left;
    stats[1] -= copies * step / left;
    stats[2] = std::max(0.0, before - copies * step * (x - stats[1]));
    return before > 0.0 ? stats[2] / before : 1.0;
  }
  static void merge(double* stats, const double* other) {
    const double count = stats[0] + other[0];
    if (count == 0.0) return;
    const double step = other[1] - stats[1];
    stats[2] += other[2] + step * step * stats[0] * other[0] / count;
    stats[1] += step * other[0] / count;
    stats[0] = count;
  }

  /// Sum of a function of the values, eight at a time.
  template <typename Function>
  static double sum(std::span<const double> values, Function&& function) {
    Lanes total{};
    std::size_t i = 0;
    for (; i + kLanes <= values.size(); i += kLanes) total += function(load_lanes(values.data() + i));
    Lanes tail{};
    for (std::size_t lane = 0; i + lane < values.size(); ++lane) tail[lane] = values[i + lane];
    tail = function(tail);
    double result = 0.0;
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      result += total[lane] + (i + lane < values.size() ? tail[lane] : 0.0);
    return result;
  }

  /// For unions of clusters: cells, mean, centered sum of squares, sum.
  static void fill_union(const double* stats, double* cache) {
    for (int i = 0; i < kSize; ++i) cache[i * static_cast<int>(kLanes)] = stats[i];
    cache[3 * kLanes] = stats[0] * stats[1];
  }
  /// One cluster together with each of eight; the same whichever of the two comes first.
  struct Union {
    Lanes cells, per_cell, squares, sum;  // per_cell: 1 / cells, or 1 if there is none
    Union(const double* one, const double* others) : cells(one[0] + load_lanes(others)) {
      per_cell = 1.0 / (cells == 0.0 ? broadcast(1.0) : cells);
      const Lanes step = one[kLanes] - load_lanes(others + kLanes);
      const Lanes within = one[2 * kLanes] + load_lanes(others + 2 * kLanes);
      squares = within + step * step * (one[0] * load_lanes(others) * per_cell);
      sum = one[3 * kLanes] + load_lanes(others + 3 * kLanes);
    }
  };
};

}  // namespace coppice
