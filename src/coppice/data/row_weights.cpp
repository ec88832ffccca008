#include "coppice/data/row_weights.hpp"

#include <cmath>
#include <numeric>

#include "coppice/base/error.hpp"

namespace coppice {

std::string why_not_a_weight(double value) {
  if (is_missing(value)) return "is missing; give every row one";
  if (value == 0.0) return "is zero and stands for nothing; leave the row out";
  if (!(value >= 1.0) || value != std::floor(value))
    return "is not a whole number of rows; a weight counts equal rows: 1, 2, 3, ...";
  return {};
}

void check_weights(std::span<const double> weights, const std::string& what) {
  double total = 0.0;
  for (std::size_t row = 0; row < weights.size(); ++row) {
    if (const std::string problem = why_not_a_weight(weights[row]); !problem.empty())
      fail(ErrorCode::bad_data, "{}: row {}: the weight {} {}", what, row + 1,
           fmt::format("{}", weights[row]), problem);
    total += weights[row];
  }
  if (total > kMostCopies)
    fail(ErrorCode::bad_data, "{}: the weights stand for {:.0f} rows in all, and {:.0f} are possible", what,
         total, kMostCopies);
}

Table repeat_rows(const Table& table, std::span<const double> weights) {
  Table repeated;
  const auto copies = static_cast<std::size_t>(std::accumulate(weights.begin(), weights.end(), 0.0));
  const auto repeat = [&](const auto& from, auto& to) {
    to.reserve(copies);
    for (std::size_t row = 0; row < weights.size(); ++row)
      to.insert(to.end(), static_cast<std::size_t>(weights[row]), from[row]);
  };
  for (const Column& column : table.columns) {
    repeated.columns.push_back({column.name, column.kind, {}, column.levels});
    repeat(column.values, repeated.columns.back().values);
  }
  repeat(table.row_ids, repeated.row_ids);
  return repeated;
}

}  // namespace coppice
