// The figures of a column of numbers on which the decision about its kind rests. Long columns are looked at
// through a few hundred rows first: most of them need no second look.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace coppice {

struct Measure {
  std::size_t present = 0;
  std::size_t distinct = 0;  // counted up to kMostCounted, then at least that
  bool whole = true;
  bool increasing = true;  // each number above the one before
  double least = 0.0;
  double greatest = 0.0;
  double mean = 0.0;
  double deviation = 0.0;  // standard deviation of the sample
  double skewness = 0.0;
  double log_skewness = 0.0;  // of the logarithms; NaN unless all are positive
  double common = 0.0;        // the most frequent number
  std::size_t common_count = 0;
  std::size_t next_count = 0;  // of the second most frequent
  double gap = 0.0;            // the smallest between distinct numbers; 0: not known
  bool on_grid = false;        // all numbers are a multiple of the gap apart
  std::size_t digits = 0;      // of every whole number; 0: they differ

  static constexpr std::size_t kMostCounted = 4096;
};

/// Of the cells that are present; `apart`, if given, is left out of all figures.
Measure measure(std::span<const double> values, const double* apart = nullptr);

/// This many observed cells, spread evenly over the column.
std::vector<double> sample_of(std::span<const double> values, std::size_t most);

}  // namespace coppice
