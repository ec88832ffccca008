// Names of the kinds and the textual form of a cell.
#include "coppice/data/table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "coppice/base/error.hpp"

namespace coppice {
namespace {

constexpr std::array<std::string_view, 4> kKindNames = {"real", "count", "binary", "category"};

}  // namespace

std::string_view kind_name(Kind kind) { return kKindNames.at(static_cast<std::size_t>(kind)); }

Kind kind_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kKindNames.size(); ++i)
    if (kKindNames[i] == name) return static_cast<Kind>(i);
  fail(ErrorCode::configuration, "kind '{}' is not one of real, count, binary, category", name);
}

bool Column::has_missing() const { return std::any_of(values.begin(), values.end(), is_missing); }

std::string Column::text(std::size_t row) const {
  const double cell = values.at(row);
  if (is_missing(cell)) return {};
  if (!levels.empty()) return levels.at(static_cast<std::size_t>(cell));
  return number_text(cell);
}

std::string Column::number_text(double cell) const {
  if (is_missing(cell)) return {};
  if (dates) return text::moment_text(*dates, cell);
  std::array<char, 32> digits;
  // An income is written as 200000, although 2e+05 is shorter.
  constexpr double kMostWhole = 1e15;
  const bool is_whole = std::abs(cell) < kMostWhole && cell == std::floor(cell);
  const std::to_chars_result result =
      std::to_chars(digits.data(), digits.data() + digits.size(), cell,
                    is_whole ? std::chars_format::fixed : std::chars_format::general);
  return {digits.data(), result.ptr};
}

const Column* Table::find(std::string_view name) const {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [name](const Column& column) { return column.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

void append_rows(Table& table, const Table& more) {
  if (table.columns.size() != more.columns.size())
    fail(ErrorCode::bug, "append_rows: {} columns for {}", more.columns.size(), table.columns.size());
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    Column& column = table.columns[j];
    const Column& added = more.columns[j];
    if (added.name != column.name || added.kind != column.kind)
      fail(ErrorCode::bug, "append_rows: column '{}' for '{}'", added.name, column.name);
    if (column.kind != Kind::category || added.levels == column.levels) {
      column.values.insert(column.values.end(), added.values.begin(), added.values.end());
      continue;
    }
    std::vector<double> place;
    for (const std::string& level : added.levels) {
      const auto known = std::find(column.levels.begin(), column.levels.end(), level);
      place.push_back(static_cast<double>(known - column.levels.begin()));
      if (known == column.levels.end()) column.levels.push_back(level);
    }
    for (const double value : added.values)
      column.values.push_back(is_missing(value) ? kMissing : place.at(static_cast<std::size_t>(value)));
  }
  table.row_ids.insert(table.row_ids.end(), more.row_ids.begin(), more.row_ids.end());
}

}  // namespace coppice
