#include "coppice/family/adopt_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "coppice/data/text.hpp"
#include "coppice/family/registry.hpp"

namespace coppice {
namespace {

bool has_words(const Column& column) {
  return column.kind == Kind::category || (column.kind == Kind::binary && !column.levels.empty());
}

bool fits(Kind kind, double value) {
  switch (kind) {
    case Kind::real:
      return true;
    case Kind::binary:
      return value == 0.0 || value == 1.0;
    case Kind::count:
      return value >= 0.0 && value == std::floor(value);
    case Kind::category:
      break;
  }
  return value == std::floor(value);  // whole numbers are names of levels, measurements are not
}

/// The first row whose cell is none of the kind; the number of rows if there is none.
std::size_t first_misfit(Kind kind, const Column& column) {
  const auto found = std::find_if(column.values.begin(), column.values.end(),
                                  [&](double value) { return !is_missing(value) && !fits(kind, value); });
  return static_cast<std::size_t>(found - column.values.begin());
}

/// The first of the kinds that the values allow. A category is the last resort: it forgets the order of
/// numbers.
std::optional<Kind> first_fitting(const std::vector<Kind>& kinds, const Column& column) {
  const auto fits_all = [&](Kind kind) { return first_misfit(kind, column) == column.values.size(); };
  for (const Kind kind : kinds)
    if (kind != Kind::category && fits_all(kind)) return kind;
  const bool takes_levels = std::find(kinds.begin(), kinds.end(), Kind::category) != kinds.end();
  return takes_levels && fits_all(Kind::category) ? std::optional(Kind::category) : std::nullopt;
}

void convert_to(Kind kind, Column& column) {
  column.kind = kind;
  if (kind != Kind::category) return;
  std::vector<double> values;
  for (const double value : column.values)
    if (!is_missing(value)) values.push_back(value);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  for (const double value : values) column.levels.push_back(fmt::format("{}", value));
  for (double& value : column.values)
    if (!is_missing(value))
      value = static_cast<double>(std::lower_bound(values.begin(), values.end(), value) - values.begin());
}

/// The numbers behind levels that are all numbers; false if one is not.
bool restore_numbers(Column& column) {
  std::vector<double> numbers;
  for (const std::string& level : column.levels) {
    double value = 0.0;
    if (text::parse_number(level, value) != text::Parsed::number) return false;
    numbers.push_back(value);
  }
  if (numbers.empty()) return false;
  for (double& value : column.values)
    if (!is_missing(value)) value = numbers[static_cast<std::size_t>(value)];
  column.levels.clear();
  column.kind = Kind::real;
  return true;
}

/// Undoes what was inferred beyond the numbers themselves, for a family that takes these.
void forget_inferred(const FamilyEntry& entry, Column& column, ColumnSpec& spec) {
  spec.family.clear();
  spec.transform.clear();
  spec.hurdle.reset();
  spec.resolution.reset();
  if (entry.takes(column.kind) || column.levels.empty()) return;
  Column numbers = column;
  if (!restore_numbers(numbers)) return;  // if none of its kinds fits, the plan says which number is wrong
  column = std::move(numbers);
  spec.kind = column.kind;
  spec.levels.clear();
}

}  // namespace

KindRules kind_rules() {
  KindRules rules;
  for (const FamilyEntry& entry : all_families())
    if (entry.overdispersed) rules.overdispersed_family = entry.name;
  return rules;
}

std::string why_not(const FamilyEntry& entry, const Column& column) {
  if (has_words(column)) return "its cells are words";
  // The widest kind of numbers says it best.
  const Kind widest = entry.takes(Kind::count)                                    ? Kind::count
                      : entry.takes(Kind::binary) && !entry.takes(Kind::category) ? Kind::binary
                                                                                  : Kind::category;
  const std::size_t row = first_misfit(widest, column);
  if (row == column.values.size()) return fmt::format("its kind is {}", kind_name(column.kind));
  return fmt::format("its value {} is {}", column.text(row),
                     widest == Kind::count    ? "not a whole number of at least 0"
                     : widest == Kind::binary ? "neither 0 nor 1"
                                              : "not a whole number");
}

void adopt_kinds(Table& table, Codebook& codebook, const std::string& family) {
  for (Column& column : table.columns) {
    const auto spec = std::find_if(codebook.columns.begin(), codebook.columns.end(),
                                   [&](const ColumnSpec& s) { return s.name == column.name; });
    const bool is_named = !family.empty() && family != "auto";
    if (is_named && spec != codebook.columns.end() && spec->inferred)
      forget_inferred(family_by_name(family), column, *spec);
    const bool has_own = spec != codebook.columns.end() && !spec->family.empty();
    const std::string& named = has_own ? spec->family : family;
    if (named.empty() || named == "auto" || has_words(column)) continue;
    const std::optional<Kind> kind = first_fitting(family_by_name(named).kinds, column);
    if (!kind || *kind == column.kind) continue;  // if none fits, the plan says what is wrong
    convert_to(*kind, column);
    if (spec == codebook.columns.end()) continue;
    spec->kind = column.kind;
    spec->levels = column.levels;
  }
}

}  // namespace coppice
