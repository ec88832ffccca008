// Averages of numbers of which some may not be there.
#pragma once

#include <cmath>

namespace coppice {

/// The sum divided by `count`, which need not be whole; NaN if there is nothing.
inline double mean_of_sum(double sum, double count) { return count > 0.0 ? sum / count : std::nan(""); }

/// The mean of those numbers that are not NaN.
struct Average {
  double sum = 0.0, count = 0.0;

  void add(double value) {
    if (std::isnan(value)) return;
    sum += value;
    count += 1.0;
  }
  double mean() const { return mean_of_sum(sum, count); }
};

}  // namespace coppice
