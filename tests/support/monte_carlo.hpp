// Monte Carlo averages with their errors, and the distribution-free tests of the suites. Every threshold is
// the same: an event that a correct program shows once in 1.7 million checks (five standard errors, two
// sides).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "coppice/base/special_functions.hpp"

namespace coppice::test {

inline constexpr double kStandardErrors = 5.0;
inline constexpr double kTailProbability = 5.7e-7;  // of a normal variable beyond kStandardErrors

class RunningMean {
 public:
  void add(double value) {
    count_ += 1.0;
    const double step = value - mean_;
    mean_ += step / count_;
    squares_ += step * (value - mean_);
  }
  double mean() const { return mean_; }
  double variance() const { return std::max(0.0, squares_) / (count_ - 1.0); }
  double standard_error() const { return std::sqrt(variance() / count_); }

 private:
  double count_ = 0.0, mean_ = 0.0, squares_ = 0.0;
};

/// Expects the average to be `truth` within its error. `floor` covers rounding where all terms are equal.
inline void expect_mean(const RunningMean& average, double truth, double floor = 1e-12) {
  EXPECT_NEAR(average.mean(), truth,
              kStandardErrors * average.standard_error() + floor * std::max(1.0, std::abs(truth)))
      << "standard error " << average.standard_error();
}

/// Kolmogorov-Smirnov: expects the values to come from the distribution with this (continuous) cdf.
template <typename Cdf>
void expect_distribution(std::vector<double> values, Cdf&& cdf) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  double distance = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double p = cdf(values[i]);
    ASSERT_TRUE(p >= 0.0 && p <= 1.0) << "cdf(" << values[i] << ") = " << p;
    distance = std::max({distance, p - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - p});
  }
  // Massart: P(distance > t) <= 2 exp(-2 n t^2).
  EXPECT_LT(distance, std::sqrt(std::log(2.0 / kTailProbability) / (2.0 * n)));
}

/// Chi-square: expects counts with the given probabilities (which sum to one). Cells of fewer than ten
/// expected counts are pooled, because the chi-square law is a limit of large counts.
inline void expect_frequencies(std::span<const double> counts, std::span<const double> probabilities) {
  ASSERT_EQ(counts.size(), probabilities.size());
  double total = 0.0;
  for (const double count : counts) total += count;
  double statistic = 0.0;
  double pooled_count = 0.0;
  double pooled_expected = 0.0;
  double cells = 0.0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = total * probabilities[i];
    if (expected < 10.0) {
      pooled_count += counts[i];
      pooled_expected += expected;
      continue;
    }
    statistic += (counts[i] - expected) * (counts[i] - expected) / expected;
    cells += 1.0;
  }
  if (pooled_expected >= 10.0) {
    statistic += (pooled_count - pooled_expected) * (pooled_count - pooled_expected) / pooled_expected;
    cells += 1.0;
  } else {
    // Too rare for chi-square; Poisson with a mean below ten does not reach 40.
    EXPECT_LT(pooled_count, 40.0) << "rare cells of expected count " << pooled_expected;
  }
  if (cells < 2.0) return;
  EXPECT_GT(chi_squared_tail(cells - 1.0, statistic), kTailProbability)
      << "chi-square " << statistic << " with " << cells - 1.0 << " degrees of freedom";
}

}  // namespace coppice::test
