// One pass for sums, one for distinct numbers (in a small table by their bits), and a sort of those.
#include "coppice/data/kinds/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "coppice/data/table.hpp"
#include "coppice/data/text.hpp"

namespace coppice {
namespace {

/// Counts distinct numbers until there are too many; those known by then are still counted.
class Counter {
 public:
  explicit Counter(std::size_t cells)
      : bits_(static_cast<int>(
            std::bit_width(2 * std::clamp<std::size_t>(cells, 8, Measure::kMostCounted) - 1))),
        keys_(std::size_t{1} << bits_),
        counts_(std::size_t{1} << bits_, 0) {}

  void add(double value) {
    if (value == 0.0) value = 0.0;  // one zero
    const auto bits = std::bit_cast<std::uint64_t>(value);
    std::size_t at = (bits * 0x9e3779b97f4a7c15u) >> (64 - bits_);
    while (counts_[at] != 0 && keys_[at] != value) at = (at + 1) & (counts_.size() - 1);
    if (counts_[at] == 0) {
      if (distinct_ == Measure::kMostCounted) return;
      keys_[at] = value;
      ++distinct_;
    }
    ++counts_[at];
  }

  std::size_t distinct() const { return distinct_; }
  template <typename Visit>
  void visit(Visit&& visitor) const {
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if (counts_[i] != 0) visitor(keys_[i], counts_[i]);
  }

 private:
  int bits_;
  std::vector<double> keys_;
  std::vector<std::size_t> counts_;
  std::size_t distinct_ = 0;
};

double skewness_of(double second, double third) {
  return second > 0.0 ? third / (second * std::sqrt(second)) : 0.0;
}

double skewness(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  double mean = 0.0;
  for (const double x : values) mean += x / count;
  double second = 0.0;
  double third = 0.0;
  for (const double x : values) {
    const double d = x - mean;
    second += d * d;
    third += d * d * d;
  }
  return skewness_of(second / count, third / count);
}

std::size_t digits_of(double value) {
  std::size_t digits = 1;
  for (value = std::abs(value); value >= 10.0; value = std::floor(value / 10.0)) ++digits;
  return digits;
}

void find_gap(std::vector<double> sorted, Measure& result) {
  if (sorted.size() < 2) return;
  // Numbers that differ by rounding of the arithmetic that made them are the same number.
  const double floor = 1e-12 * std::max(std::abs(sorted.front()), std::abs(sorted.back()));
  double gap = std::numeric_limits<double>::infinity();
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const double step = sorted[i] - sorted[i - 1];
    if (step > floor) gap = std::min(gap, step);
  }
  if (!std::isfinite(gap)) return;
  // 0.1 rather than 0.09999999999999787.
  text::parse_number(fmt::format("{:.10g}", gap), result.gap);
  result.on_grid = std::all_of(sorted.begin(), sorted.end(), [&](double x) {
    const double steps = (x - sorted.front()) / gap;
    return std::abs(steps - std::round(steps)) < 1e-3;
  });
}

}  // namespace

Measure measure(std::span<const double> values, const double* apart) {
  Measure result;
  const auto each = [&](auto&& visitor) {
    for (const double value : values)
      if (!is_missing(value) && (apart == nullptr || value != *apart)) visitor(value);
  };
  Counter counter(values.size());
  double sum = 0.0;
  double last = -std::numeric_limits<double>::infinity();
  result.least = std::numeric_limits<double>::infinity();
  result.greatest = -result.least;
  each([&](double x) {
    ++result.present;
    sum += x;
    result.whole = result.whole && x == std::floor(x);
    result.increasing = result.increasing && x > last;
    last = x;
    result.least = std::min(result.least, x);
    result.greatest = std::max(result.greatest, x);
    counter.add(x);
  });
  if (result.present == 0) return {};
  const auto count = static_cast<double>(result.present);
  result.distinct = counter.distinct();
  result.mean = std::isfinite(sum) ? sum / count : result.least / 2.0 + result.greatest / 2.0;
  // On a scale near one, so that no power overflows.
  const double scale = std::max(std::abs(result.least), std::abs(result.greatest));
  double second = 0.0;
  double third = 0.0;
  if (scale > 0.0)
    each([&](double x) {
      const double d = x / scale - result.mean / scale;
      second += d * d;
      third += d * d * d;
    });
  result.deviation = result.present > 1 ? scale * std::sqrt(second / (count - 1.0)) : 0.0;
  result.skewness = skewness_of(second / count, third / count);
  result.log_skewness = std::numeric_limits<double>::quiet_NaN();
  if (result.least > 0.0) {
    std::vector<double> logs;
    logs.reserve(result.present);
    each([&](double x) { logs.push_back(std::log(x)); });
    result.log_skewness = skewness(logs);
  }
  std::vector<double> sorted;
  sorted.reserve(result.distinct);
  counter.visit([&](double value, std::size_t times) {
    sorted.push_back(value);
    if (times > result.common_count || (times == result.common_count && value < result.common)) {
      result.next_count = std::max(result.next_count, result.common_count);
      result.common_count = times;
      result.common = value;
    } else {
      result.next_count = std::max(result.next_count, times);
    }
  });
  std::sort(sorted.begin(), sorted.end());
  find_gap(std::move(sorted), result);
  if (result.whole) {
    result.digits = digits_of(result.least);
    if (digits_of(result.greatest) != result.digits || (result.least < 0.0) != (result.greatest < 0.0))
      result.digits = 0;
  }
  return result;
}

std::vector<double> sample_of(std::span<const double> values, std::size_t most) {
  std::vector<double> sample;
  const std::size_t step = std::max<std::size_t>(1, values.size() / most);
  for (std::size_t row = 0; row < values.size() && sample.size() < most; row += step)
    if (!is_missing(values[row])) sample.push_back(values[row]);
  return sample;
}

}  // namespace coppice
