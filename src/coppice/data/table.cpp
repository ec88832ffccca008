// Names of the kinds and the textual form of a cell.
#include "coppice/data/table.hpp"

#include <algorithm>
#include <array>
#include <charconv>

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
  std::array<char, 32> digits;
  const std::to_chars_result result = std::to_chars(digits.data(), digits.data() + digits.size(), cell);
  return {digits.data(), result.ptr};
}

const Column* Table::find(std::string_view name) const {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [name](const Column& column) { return column.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

}  // namespace coppice
