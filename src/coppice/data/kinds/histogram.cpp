#include "coppice/data/kinds/histogram.hpp"

#include <algorithm>
#include <cmath>

namespace coppice {
namespace {

std::vector<std::size_t> by_level(const Column& column, std::size_t bars) {
  const std::size_t levels = column.kind == Kind::binary ? 2 : column.levels.size();
  std::vector<std::size_t> counts(std::min(levels, bars), 0);
  if (counts.empty()) return counts;
  for (const double value : column.values)
    if (!is_missing(value)) ++counts[std::min(static_cast<std::size_t>(value), counts.size() - 1)];
  return counts;
}

}  // namespace

std::vector<std::size_t> small_histogram(const Column& column, const ColumnSpec& spec, std::size_t bars) {
  if (column.kind == Kind::binary || column.kind == Kind::category) return by_level(column, bars);
  const bool logs = spec.transform == "log";
  std::vector<double> values;
  for (const double value : column.values)
    if (!is_missing(value) && (!logs || value > 0.0)) values.push_back(logs ? std::log(value) : value);
  if (values.empty()) return {};
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  const double low = *least;
  // Halves, so that the difference of two large numbers is finite.
  const double width = *greatest / 2.0 - low / 2.0;
  const bool whole = column.kind == Kind::count && 2.0 * width < static_cast<double>(bars);
  std::vector<std::size_t> counts(whole ? static_cast<std::size_t>(2.0 * width) + 1 : bars, 0);
  for (const double value : values) {
    const double place =
        whole || !(width > 0.0) ? value - low : (value / 2.0 - low / 2.0) / width * static_cast<double>(bars);
    ++counts[std::min(static_cast<std::size_t>(place), counts.size() - 1)];
  }
  return counts;
}

}  // namespace coppice
