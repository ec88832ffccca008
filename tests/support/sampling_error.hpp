// Monte Carlo error of correlated draws, and the judgement built on it. A chain is cut into batches; the
// spread of the batch means gives the error of the whole mean. A check holds if the estimate is within
// `error_limit()` errors of the truth: 4.5 for one seed; with more seeds the limit grows so that the chance
// of a false alarm over all seeds together stays what it is for one (Bonferroni). Draws shrink with
// COPPICE_TEST_SCALE (0.1 under a sanitizer, say) and the limits follow, because they are counted in errors.
#pragma once

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "support/seeds.hpp"

namespace coppice::test {

inline constexpr double kErrorLimit = 4.5;
inline constexpr std::size_t kBatches = 100;

/// The number of draws a test asks for, times COPPICE_TEST_SCALE; a whole number of batches, never fewer than
/// twenty each.
inline std::size_t scaled(std::size_t draws) {
  const char* text = std::getenv("COPPICE_TEST_SCALE");
  const double scale = text == nullptr || *text == '\0' ? 1.0 : std::strtod(text, nullptr);
  const auto wanted = static_cast<std::size_t>(static_cast<double>(draws) * scale);
  return std::max<std::size_t>(wanted / kBatches, 20) * kBatches;
}

inline double error_limit() {
  static const double limit = [] {
    const boost::math::normal normal;
    const double tail = boost::math::cdf(boost::math::complement(normal, kErrorLimit));
    return boost::math::quantile(
        boost::math::complement(normal, tail / static_cast<double>(test_seeds().size())));
  }();
  return limit;
}

struct Estimate {
  double mean = 0.0;
  double error = 0.0;
};

/// Mean and error of a sequence whose neighbours may be correlated.
inline Estimate batch_estimate(std::span<const double> values) {
  const std::size_t length = values.size() / kBatches;
  std::vector<double> means(kBatches, 0.0);
  Estimate estimate;
  for (std::size_t batch = 0; batch < kBatches; ++batch) {
    for (std::size_t i = 0; i < length; ++i)
      means[batch] += values[batch * length + i] / static_cast<double>(length);
    estimate.mean += means[batch] / kBatches;
  }
  double squares = 0.0;
  for (const double mean : means) squares += (mean - estimate.mean) * (mean - estimate.mean);
  estimate.error = std::sqrt(squares / (kBatches - 1) / kBatches);
  return estimate;
}

/// The outcome of many checks: the worst of them, in errors. A value, so that a test can also demand a
/// failure.
struct Agreement {
  double worst = 0.0;
  std::string where = "nothing was checked";
  std::size_t checks = 0;

  /// `floor` covers rounding where nothing varies.
  void check(const std::string& what, const Estimate& estimate, double truth, double floor = 1e-12) {
    const double distance = std::abs(estimate.mean - truth);
    const double errors = distance <= floor ? 0.0 : distance / std::max(estimate.error, 1e-300);
    ++checks;
    if (checks == 1 || !(errors <= worst)) {
      worst = errors;
      where = what + ": " + std::to_string(estimate.mean) + " +- " + std::to_string(estimate.error) +
              ", should be " + std::to_string(truth);
    }
  }
  bool holds() const { return checks > 0 && worst < error_limit(); }
};

inline std::ostream& operator<<(std::ostream& out, const Agreement& agreement) {
  return out << agreement.worst << " errors off (limit " << error_limit() << ", " << agreement.checks
             << " checks) at " << agreement.where;
}

}  // namespace coppice::test
