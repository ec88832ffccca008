#include "coppice/post/least_values.hpp"

#include <algorithm>

#include "coppice/base/math.hpp"
#include "coppice/data/transform.hpp"
#include "coppice/post/units.hpp"

namespace coppice {

std::vector<double> least_values(const SavedRun& run) {
  const Table& table = run.table();
  const std::vector<OriginalUnits> units =
      original_units(transform_from_json(run.contents().transform), table);
  std::vector<double> least(table.columns.size(), kMinusInfinity);
  for (std::size_t j = 0; j < least.size(); ++j) {
    const Column& column = table.columns[j];
    if (column.kind != Kind::real && column.kind != Kind::count) continue;
    if (column.dates) continue;
    const auto is_negative = [&](double value) { return units[j].cell(value) < 0.0; };
    if (std::any_of(column.values.begin(), column.values.end(), is_negative)) continue;
    least[j] = -units[j].mean / units[j].deviation;
  }
  return least;
}

}  // namespace coppice
