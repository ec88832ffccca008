#include "coppice/data/kinds/sentinel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <utility>

#include "coppice/data/kinds/measure.hpp"

namespace coppice {
namespace {

constexpr std::array<double, 9> kUsual = {-9.0,  -99.0,  -999.0,  -9999.0, -99999.0,
                                          999.0, 9999.0, 99999.0, 999999.0};
constexpr double kFarAway = 5.0;  // standard deviations of the other numbers
constexpr std::size_t kRepeats = 2;
constexpr double kShortScale = 20.0;

/// Least and greatest; comparisons with a missing cell are false. Several at a time, because each waits for
/// the one before.
std::pair<double, double> range_of(std::span<const double> values) {
  constexpr std::size_t kTogether = 4;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::array<double, kTogether> least{kInfinity, kInfinity, kInfinity, kInfinity};
  std::array<double, kTogether> greatest{-kInfinity, -kInfinity, -kInfinity, -kInfinity};
  const auto take = [&](std::size_t slot, double value) {
    least[slot] = value < least[slot] ? value : least[slot];
    greatest[slot] = value > greatest[slot] ? value : greatest[slot];
  };
  std::size_t row = 0;
  for (; row + kTogether <= values.size(); row += kTogether)
    for (std::size_t slot = 0; slot < kTogether; ++slot) take(slot, values[row + slot]);
  for (; row < values.size(); ++row) take(0, values[row]);
  return {*std::min_element(least.begin(), least.end()), *std::max_element(greatest.begin(), greatest.end())};
}

}  // namespace

std::string find_sentinel(std::span<const double> values) {
  const auto [least, greatest] = range_of(values);
  for (const double end : {least, greatest}) {
    const bool minus_one = end == -1.0;
    if (!minus_one && std::find(kUsual.begin(), kUsual.end(), end) == kUsual.end()) continue;
    const auto times = static_cast<std::size_t>(std::count(values.begin(), values.end(), end));
    if (times < kRepeats || 2 * times > values.size()) continue;
    const Measure rest = measure(values, &end);
    if (rest.distinct < 2) continue;
    // Among numbers that are never negative a negative code is out of place however near it is; but -1 may be
    // one step below 0 on a short scale.
    const bool out_of_place = end < 0.0 && rest.least >= 0.0;
    const bool near_scale = minus_one && rest.least == 0.0 && rest.greatest <= kShortScale;
    const double distance = end < 0.0 ? rest.least - end : end - rest.greatest;
    const bool far = !minus_one && distance > kFarAway * rest.deviation;
    if ((out_of_place && !near_scale) || far) return fmt::format("{}", end);
  }
  return {};
}

}  // namespace coppice
