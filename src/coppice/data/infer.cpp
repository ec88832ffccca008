// Kinds of columns: inference, and the checks of declared kinds.
#include "coppice/data/infer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "coppice/data/kinds/spellings.hpp"

namespace coppice {
namespace {

constexpr double kLargestInferredCount = 10000.0;
constexpr double kLeastDispersion = 0.25;

bool is_count(double value) { return value >= 0.0 && value == std::floor(value); }

// Gives the column these levels (a superset of those that occur) and its codes to match.
void recode(RawColumn& raw, std::vector<std::string> levels) {
  std::unordered_map<std::string_view, double> position;
  for (std::size_t i = 0; i < levels.size(); ++i) position.emplace(levels[i], static_cast<double>(i));
  std::vector<double> code(raw.levels.size());
  for (std::size_t i = 0; i < raw.levels.size(); ++i) code[i] = position.at(raw.levels[i]);
  for (double& value : raw.values)
    if (!is_missing(value)) value = code[static_cast<std::size_t>(value)];
  raw.levels = std::move(levels);
}

// The first row whose value satisfies the test, or the number of rows.
template <typename Test>
std::size_t first_row(const RawColumn& raw, Test test) {
  const auto found = std::find_if(raw.values.begin(), raw.values.end(),
                                  [&](double value) { return !is_missing(value) && test(value); });
  return static_cast<std::size_t>(found - raw.values.begin());
}

/// The code of the declared level that says the same, if all of them say yes or no: YES is yes.
std::optional<double> code_of_yes_or_no(std::span<const std::string> declared, std::string_view level) {
  const std::optional<bool> meaning = yes_or_no(level);
  if (!meaning || !boolean_levels(declared)) return std::nullopt;
  return yes_or_no(declared[0]) == meaning ? 0.0 : 1.0;
}

/// Gives levels that were not declared but are the same number as a declared one its code: 3.0 is 3. So do
/// other spellings of yes and no.
void join_equal_levels(RawColumn& column, std::size_t declared) {
  if (column.levels.size() <= declared) return;
  std::vector<double> code(column.levels.size());
  std::vector<std::string> levels(column.levels.begin(),
                                  column.levels.begin() + static_cast<std::ptrdiff_t>(declared));
  std::unordered_map<double, double> numbers;
  for (std::size_t i = 0; i < column.levels.size(); ++i) {
    double value = 0.0;
    const bool number = text::parse_number(column.levels[i], value) == text::Parsed::number;
    if (i < declared) {
      code[i] = static_cast<double>(i);
      if (number) numbers.emplace(value, code[i]);
    } else if (const auto known = numbers.find(value); number && known != numbers.end()) {
      code[i] = known->second;
    } else if (const auto same =
                   code_of_yes_or_no(std::span(column.levels).first(declared), column.levels[i])) {
      code[i] = *same;
    } else {
      code[i] = static_cast<double>(levels.size());
      levels.push_back(column.levels[i]);
    }
  }
  for (double& value : column.values)
    if (!is_missing(value)) value = code[static_cast<std::size_t>(value)];
  column.levels = std::move(levels);
}

void check_declared_levels(RawTable& raw, std::size_t index, std::size_t declared, std::string_view remedy) {
  RawColumn& column = raw.columns[index];
  join_equal_levels(column, declared);
  if (column.levels.size() <= declared) return;
  const std::size_t row =
      first_row(column, [&](double code) { return code >= static_cast<double>(declared); });
  raw.fail_cell(row, index,
                fmt::format("is not one of the levels {}; {}",
                            text::list_names(std::span(column.levels).first(declared), 20), remedy));
}

// A column declared binary without levels.
void settle_binary(RawTable& raw, std::size_t index) {
  RawColumn& column = raw.columns[index];
  if (!column.is_text) {
    const std::size_t row = first_row(column, [](double value) { return value != 0.0 && value != 1.0; });
    if (row < raw.rows)
      raw.fail_cell(row, index,
                    "is not 0 or 1 in a binary column; correct it or change the kind in the codebook");
    return;
  }
  if (const auto pair = boolean_levels(column.levels)) {
    recode(column, *pair);
    return;
  }
  if (column.levels.size() == 2) {
    recode(column, sorted_levels(column.levels));
    return;
  }
  const std::size_t row =
      first_row(column, [&](double code) { return code >= 2.0 || column.levels.size() < 2; });
  raw.fail_cell(
      row, index,
      column.levels.size() < 2
          ? "is the only one in a binary column; list both levels in the codebook"
          : "is a third value in a binary column; correct it or make the column a category in the codebook");
}

void settle_declared(RawTable& raw, std::size_t index, const ColumnSpec& spec, std::string_view remedy) {
  RawColumn& column = raw.columns[index];
  switch (spec.kind) {
    case Kind::real:
      return;
    case Kind::count: {
      const std::size_t row = first_row(column, [](double value) { return !is_count(value); });
      if (row < raw.rows)
        raw.fail_cell(
            row, index,
            "is not a count (a whole number from 0); correct it or make the column real in the codebook");
      return;
    }
    case Kind::binary:
      if (spec.levels.empty())
        settle_binary(raw, index);
      else
        check_declared_levels(raw, index, spec.levels.size(), remedy);
      return;
    case Kind::category:
      if (spec.levels.empty())
        recode(column, sorted_levels(column.levels));
      else
        check_declared_levels(raw, index, spec.levels.size(), remedy);
      return;
  }
}

}  // namespace

Kind infer_number_kind(std::span<const double> values) {
  bool only_bits = true;
  double count = 0.0;
  double sum = 0.0;
  for (const double value : values) {
    if (is_missing(value)) continue;
    if (!is_count(value) || value > kLargestInferredCount) return Kind::real;
    only_bits = only_bits && value <= 1.0;
    count += 1.0;
    sum += value;
  }
  if (only_bits) return Kind::binary;
  const double mean = sum / count;
  double squares = 0.0;
  bool repeated = false;
  std::vector<bool> seen(static_cast<std::size_t>(kLargestInferredCount) + 1);
  for (const double value : values) {
    if (is_missing(value)) continue;
    squares += (value - mean) * (value - mean);
    const auto whole = static_cast<std::size_t>(value);
    repeated = repeated || seen[whole];
    seen[whole] = true;
  }
  const double variance = count > 1.0 ? squares / (count - 1.0) : 0.0;
  return repeated && variance >= kLeastDispersion * mean ? Kind::count : Kind::real;
}

std::optional<std::vector<std::string>> boolean_levels(std::span<const std::string> levels) {
  if (levels.size() != 2) return std::nullopt;
  const std::optional<bool> first = yes_or_no(levels[0]);
  const std::optional<bool> second = yes_or_no(levels[1]);
  if (first == false && second == true) return std::vector{levels[0], levels[1]};
  if (first == true && second == false) return std::vector{levels[1], levels[0]};
  return std::nullopt;
}

std::vector<std::string> sorted_levels(std::vector<std::string> levels) {
  std::vector<std::pair<double, std::string>> numbered;
  for (const std::string& level : levels) {
    double value = 0.0;
    if (text::parse_number(level, value) != text::Parsed::number) break;
    numbered.emplace_back(value, level);
  }
  if (numbered.size() < levels.size()) {
    std::sort(levels.begin(), levels.end());
    return levels;
  }
  std::sort(numbered.begin(), numbered.end());
  for (std::size_t i = 0; i < levels.size(); ++i) levels[i] = std::move(numbered[i].second);
  return levels;
}

void numbers_to_text(RawColumn& column) {
  const Column numbers{column.name, Kind::real, std::move(column.values), {}};
  std::unordered_map<std::string, double> codes;
  column.levels = column.declared_levels;
  for (std::size_t i = 0; i < column.levels.size(); ++i)
    codes.emplace(column.levels[i], static_cast<double>(i));
  column.values.assign(numbers.values.size(), kMissing);
  for (std::size_t row = 0; row < numbers.values.size(); ++row) {
    if (is_missing(numbers.values[row])) continue;
    const auto [code, fresh] = codes.emplace(numbers.text(row), static_cast<double>(column.levels.size()));
    if (fresh) column.levels.push_back(code->first);
    column.values[row] = code->second;
  }
  column.is_text = true;
}

Column decided_column(RawTable& raw, std::size_t index, Kind kind) {
  RawColumn& column = raw.columns[index];
  const bool discrete = kind == Kind::binary || kind == Kind::category;
  const bool bits = !column.is_text && kind == Kind::binary &&
                    std::all_of(column.values.begin(), column.values.end(), [](double value) {
                      return is_missing(value) || value == 0.0 || value == 1.0;
                    });
  if (discrete && !bits) {
    if (!column.is_text) numbers_to_text(column);
    const auto pair = boolean_levels(column.levels);
    recode(column, pair ? *pair : sorted_levels(column.levels));
  }
  return {std::move(column.name), kind, std::move(column.values), std::move(column.levels)};
}

Column typed_column(RawTable& raw, std::size_t index, const ColumnSpec* spec, std::string_view remedy) {
  RawColumn& column = raw.columns[index];
  Kind kind = Kind::category;
  if (spec != nullptr) {
    kind = spec->kind;
    settle_declared(raw, index, *spec, remedy);
  } else if (!column.is_text) {
    kind = raw.kind ? *raw.kind : infer_number_kind(column.values);
  } else if (const auto pair = boolean_levels(column.levels)) {
    kind = Kind::binary;
    recode(column, *pair);
  } else {
    recode(column, sorted_levels(column.levels));
  }
  return {std::move(column.name), kind, std::move(column.values), std::move(column.levels)};
}

}  // namespace coppice
