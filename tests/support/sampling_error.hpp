// Monte Carlo error of correlated draws, and the judgment built on it. A chain is cut into batches; the
// spread of the batch means gives the error of the whole mean. A check holds if the estimate is within
// `error_limit()` errors of the truth: 4.5 for the fixed seed, which is judged the same way every time. When
// seeds are asked for, each is a new chance of a false alarm in some 20,000 checks, so the limit is set for
// one false alarm in a hundred such runs (Bonferroni: 5.0 for one seed, 5.9 for a hundred). Draws shrink with
// COPPICE_TEST_SCALE (0.1 under a sanitizer, say) and the limits follow, because they are counted in errors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numbers>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "coppice/base/special_functions.hpp"
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

/// The limit for a suite of so many checks; `fixed` where the seed is the fixed one.
inline double bonferroni_limit(double fixed, double checks) {
  const char* text = std::getenv("COPPICE_TEST_SEEDS");
  if (text == nullptr || *text == '\0') return fixed;
  const double tail = 0.5 * 0.01 / (checks * static_cast<double>(test_seeds().size()));
  return std::numbers::sqrt2 * inverse_erfc(2.0 * tail);
}

inline double error_limit() {
  static const double limit = bonferroni_limit(kErrorLimit, 20'000.0);
  return limit;
}

struct Estimate {
  double mean = 0.0;
  double error = 0.0;
};

/// Mean and error from means of equal batches. A chain that now and then sticks to a state for longer than a
/// batch has correlated batches, so they are also joined in twos, fours and tens, and the largest error
/// counts.
inline Estimate estimate_from_batches(std::span<const double> batches) {
  Estimate estimate;
  for (const double batch : batches) estimate.mean += batch / static_cast<double>(batches.size());
  for (const std::size_t joined : {1u, 2u, 4u, 10u}) {
    const std::size_t count = batches.size() / joined;
    double squares = 0.0;
    for (std::size_t group = 0; group < count; ++group) {
      double mean = 0.0;
      for (std::size_t i = 0; i < joined; ++i)
        mean += batches[group * joined + i] / static_cast<double>(joined);
      squares += (mean - estimate.mean) * (mean - estimate.mean);
    }
    const double n = static_cast<double>(count);
    estimate.error = std::max(estimate.error, std::sqrt(squares / (n - 1.0) / n));
  }
  return estimate;
}

/// Mean and error of a sequence whose neighbors may be correlated.
inline Estimate batch_estimate(std::span<const double> values) {
  const std::size_t length = values.size() / kBatches;
  std::vector<double> means(kBatches, 0.0);
  for (std::size_t batch = 0; batch < kBatches; ++batch)
    for (std::size_t i = 0; i < length; ++i)
      means[batch] += values[batch * length + i] / static_cast<double>(length);
  return estimate_from_batches(means);
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
