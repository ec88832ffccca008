#include "coppice/data/kinds/missingness.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace coppice {
namespace {

constexpr std::size_t kLeastCells = 10;  // missing, and present
constexpr double kErrors = 5.0;          // clear even among thousands of pairs

/// The difference of the means of two groups of rows in standard errors; 0 if a group is too small.
template <typename ValueOf>
double difference(const std::vector<double>& gaps, std::size_t rows, ValueOf value_of) {
  double count[2] = {0.0, 0.0};
  double mean[2] = {0.0, 0.0};
  double squares[2] = {0.0, 0.0};
  for (std::size_t row = 0; row < rows; ++row) {
    const double value = value_of(row);
    if (is_missing(value)) continue;
    const std::size_t group = is_missing(gaps[row]) ? 1 : 0;
    const double step = value - mean[group];
    mean[group] += step / ++count[group];
    squares[group] += step * (value - mean[group]);
  }
  if (count[0] < kLeastCells || count[1] < kLeastCells) return 0.0;
  const double pooled = (squares[0] + squares[1]) / (count[0] + count[1] - 2.0);
  const double error = std::sqrt(pooled * (1.0 / count[0] + 1.0 / count[1]));
  return error > 0.0 ? std::abs(mean[1] - mean[0]) / error : 0.0;
}

}  // namespace

std::vector<InformativeGaps> find_informative_gaps(const Table& table) {
  std::vector<InformativeGaps> found;
  for (const Column& column : table.columns) {
    const auto gaps =
        static_cast<std::size_t>(std::count_if(column.values.begin(), column.values.end(), is_missing));
    if (gaps < kLeastCells || gaps + kLeastCells > table.rows()) continue;
    InformativeGaps best{column.name, {}, 0.0};
    for (const Column& other : table.columns) {
      if (&other == &column) continue;
      const std::size_t levels = other.kind == Kind::category ? other.levels.size() : 1;
      for (std::size_t level = 0; level < levels; ++level) {
        const double errors = difference(column.values, table.rows(), [&](std::size_t row) {
          const double value = other.values[row];
          if (is_missing(value) || other.kind != Kind::category) return value;
          return value == static_cast<double>(level) ? 1.0 : 0.0;
        });
        if (errors > best.errors) best = {column.name, other.name, errors};
      }
    }
    if (best.errors > kErrors) found.push_back(best);
  }
  std::sort(found.begin(), found.end(),
            [](const InformativeGaps& a, const InformativeGaps& b) { return a.errors > b.errors; });
  return found;
}

}  // namespace coppice
