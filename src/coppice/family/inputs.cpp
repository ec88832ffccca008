#include "coppice/family/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coppice/base/error.hpp"

namespace coppice {

std::vector<double> FamilyInputs::per_column_values(std::string_view name, std::span<const double> defaults,
                                                    double low_excluded, double high) const {
  std::vector<double> values = given_values(name, defaults, low_excluded, high);
  for (std::size_t j = 0; j < values.size(); ++j) record(name, j, Setting::number(values[j]));
  return values;
}

std::vector<double> FamilyInputs::from_data(std::string_view name, std::vector<double> now) const {
  const Setting* stored = is_rebuilt ? whole_block(name) : nullptr;
  if (stored != nullptr && stored->numbers.size() == now.size()) now = stored->numbers;
  record(name, Setting::vector(now));
  return now;
}

void FamilyInputs::record(std::string_view name, Setting value) const {
  if (effective != nullptr) effective->block.insert_or_assign(std::string(name), std::move(value));
}

void FamilyInputs::record(std::string_view name, std::size_t column, Setting value) const {
  if (effective == nullptr) return;
  effective->columns.resize(columns.size());
  effective->columns[column].insert_or_assign(std::string(name), std::move(value));
}

std::vector<double> FamilyInputs::given_values(std::string_view name, std::span<const double> defaults,
                                               double low_excluded, double high) const {
  std::vector<double> values(defaults.begin(), defaults.end());
  const Setting* setting = whole_block(name);
  if (setting != nullptr && !(name == "prior_mean" && setting->text == "mean")) {
    const bool number = setting->shape == Setting::Shape::number;
    const bool vector = setting->shape == Setting::Shape::vector && setting->numbers.size() == columns.size();
    if (!number && !vector)
      fail(ErrorCode::configuration,
           "--set {}={}: give a number, or an array of {} numbers (one for each column)", name,
           to_toml(*setting), columns.size());
    for (std::size_t j = 0; j < values.size(); ++j) values[j] = setting->numbers[number ? 0 : j];
  }
  for (std::size_t j = 0; j < values.size(); ++j) {
    if (per_column[j] != nullptr) {
      if (const auto own = per_column[j]->find(name); own != per_column[j]->end()) {
        if (own->second.shape != Setting::Shape::number)
          fail(ErrorCode::configuration, "codebook: column '{}': {} must be a number", columns[j]->name,
               name);
        values[j] = own->second.numbers[0];
      }
    }
    if (!std::isfinite(values[j]))
      fail(ErrorCode::configuration, "{} must be a finite number",
           words_of(name, j, fmt::format("{}", values[j])));
    if (!(values[j] > low_excluded))
      fail(ErrorCode::configuration, "{} must be greater than {}",
           words_of(name, j, fmt::format("{}", values[j])), low_excluded);
    if (values[j] > high)
      fail(ErrorCode::configuration, "{} must be at most {}; choose another unit for the column",
           words_of(name, j, fmt::format("{}", values[j])), high);
  }
  return values;
}

std::string FamilyInputs::words_of(std::string_view name, std::size_t column, std::string_view value) const {
  const Settings* own = per_column[column];
  if (whole_block(name) != nullptr && (own == nullptr || own->find(name) == own->end()))
    return fmt::format("--set {}={} for column '{}'", name, value, columns[column]->name);
  return fmt::format("column '{}': {} = {}", columns[column]->name, name, value);
}

bool FamilyInputs::learns(std::initializer_list<std::string_view> names) const {
  if (!learn || is_rebuilt) return learn;
  for (const std::string_view name : names) {
    if (settings.find(name) != settings.end()) return false;
    for (const Settings* own : per_column)
      if (own != nullptr && own->find(name) != own->end()) return false;
  }
  return true;
}

std::vector<std::string> FamilyInputs::column_names() const {
  std::vector<std::string> names;
  for (const Column* column : columns) names.push_back(column->name);
  return names;
}

std::vector<double> for_every_column(const FamilyInputs& inputs, double value) {
  return std::vector<double>(inputs.columns.size(), value);
}

Parameter positive_parameter(std::string name, std::string fallback, std::string help) {
  return {std::move(name),
          Parameter::Type::numbers,
          std::move(fallback),
          std::move(help),
          0.0,
          1e300,
          true,
          {},
          0};
}

Parameter number_parameter(std::string name, std::string help) {
  return {std::move(name), Parameter::Type::numbers, "", std::move(help)};
}

const Setting* FamilyInputs::whole_block(std::string_view name) const {
  const auto found = settings.find(name);
  return found == settings.end() ? nullptr : &found->second;
}

bool FamilyEntry::takes(Kind kind) const {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

bool FamilyEntry::has_parameter(std::string_view parameter) const {
  return std::any_of(parameters.begin(), parameters.end(),
                     [&](const Parameter& own) { return own.name == parameter; });
}

ColumnScale column_scale(const Column& column) {
  double mean = 0.0;
  double squares = 0.0;
  double count = 0.0;
  double least = std::numeric_limits<double>::infinity();
  double greatest = -least;
  for (const double value : column.values) {
    if (is_missing(value)) continue;
    least = std::min(least, value);
    greatest = std::max(greatest, value);
    count += 1.0;
    const double step = value - mean;
    mean += step / count;
    squares += step * (value - mean);
  }
  const double sd = count > 1.0 ? std::sqrt(squares / (count - 1.0)) : 0.0;
  // Variances of all columns are multiplied with each other and summed over rows.
  constexpr double kMostDeviation = 1e140;
  constexpr double kLeastDeviation = 1e-140;
  if (!(sd < kMostDeviation) || !std::isfinite(mean))
    fail(ErrorCode::bad_data, "column '{}': its values are too large to be squared; choose another unit",
         column.name);
  if (greatest - least > 1e-14 * std::abs(mean) && sd < kLeastDeviation)
    fail(ErrorCode::bad_data, "column '{}': its values are too small to be squared; choose another unit",
         column.name);
  // Spread that is only rounding of a constant column counts as none.
  const bool constant = !(sd > 1e-14 * std::abs(mean)) || sd == 0.0;
  return {mean, constant ? 1.0 : sd, constant ? 1.0 : squares / count};
}

}  // namespace coppice
