#include "coppice/post/units.hpp"

#include <charconv>
#include <string>
#include <unordered_map>

#include "coppice/base/error.hpp"
#include "coppice/data/transform.hpp"

namespace coppice {

double OriginalUnits::cell(double value) const {
  if (mean == 0.0 && deviation == 1.0) return value;
  const double rough = location(value);
  if (is_missing(value)) return rough;
  const auto fits = [&](const std::string& text, double& candidate) {
    std::from_chars(text.data(), text.data() + text.size(), candidate);
    candidate += 0.0;  // no negative zero
    return (candidate - mean) / deviation == value;
  };
  double candidate = rough;
  // Decimals first, because a rounded zero has many digits and no decimals.
  for (int decimals = 0; decimals <= 12; ++decimals)
    if (fits(fmt::format("{:.{}f}", rough, decimals), candidate)) return candidate;
  for (int digits = 1; digits <= 17; ++digits)
    if (fits(fmt::format("{:.{}e}", rough, digits - 1), candidate)) return candidate;
  return rough;
}

std::vector<OriginalUnits> original_units(const Transform& transform, const Table& table) {
  std::vector<OriginalUnits> units(table.columns.size());
  if (!transform.inputs.empty()) return units;
  std::unordered_map<std::string_view, OriginalUnits> scales;
  for (const Transform::Scale& scale : transform.scales) scales[scale.column] = {scale.mean, scale.deviation};
  for (std::size_t j = 0; j < units.size(); ++j)
    if (const auto found = scales.find(table.columns[j].name); found != scales.end())
      units[j] = found->second;
  return units;
}

}  // namespace coppice
