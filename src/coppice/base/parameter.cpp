#include "coppice/base/parameter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "coppice/base/error.hpp"

namespace coppice {
namespace {

[[noreturn]] void refuse(const Parameter& parameter, const Setting& value) {
  fail(ErrorCode::usage, "--{} takes {}, not {}", parameter.name, describe_range(parameter), to_toml(value));
}

bool in_range(const Parameter& parameter, double value) {
  if (!std::isfinite(value) || value > parameter.high) return false;
  return parameter.low_excluded ? value > parameter.low : value >= parameter.low;
}

std::string range_words(const Parameter& parameter) {
  std::string words;
  if (std::isfinite(parameter.low))
    words += fmt::format(" {} {}", parameter.low_excluded ? ">" : ">=", parameter.low);
  if (std::isfinite(parameter.high))
    words += fmt::format("{} <= {}", words.empty() ? "" : " and", parameter.high);
  return words;
}

}  // namespace

std::string describe_range(const Parameter& parameter) {
  const auto list = [&] { return fmt::format("{}", fmt::join(parameter.choices, ", ")); };
  switch (parameter.type) {
    case Parameter::Type::real:
      return "a number" + range_words(parameter) + (parameter.choices.empty() ? "" : " or " + list());
    case Parameter::Type::integer:
      return "a whole number" + range_words(parameter);
    case Parameter::Type::flag:
      return "true or false";
    case Parameter::Type::choice:
      return "one of " + list();
    case Parameter::Type::words:
      return "a comma-separated list of " + list();
    case Parameter::Type::numbers:
      break;
  }
  if (parameter.count == 0) return "numbers" + range_words(parameter);
  const std::string fewer = parameter.least_count == 0 ? "" : fmt::format("{} or ", parameter.least_count);
  return fmt::format("{}{} numbers{}", fewer, parameter.count, range_words(parameter));
}

namespace {

bool is_choice(const Parameter& parameter, const std::string& word) {
  return std::find(parameter.choices.begin(), parameter.choices.end(), word) != parameter.choices.end();
}

bool has_right_count(const Parameter& parameter, std::size_t count) {
  if (parameter.count == 0 || count == parameter.count) return true;
  return parameter.least_count != 0 && count >= parameter.least_count && count < parameter.count;
}

const ParameterAlias* alias_of(const Parameter& parameter, std::string_view name) {
  for (const ParameterAlias& alias : parameter.aliases)
    if (alias.name == name) return &alias;
  return nullptr;
}

void use_present_word(const Parameter& parameter, Setting& value) {
  for (const WordAlias& alias : parameter.word_aliases)
    if (value.shape == Setting::Shape::text && value.text == alias.earlier) value.text = alias.word;
}

/// What a value under this name of the parameter means.
std::optional<Setting> present_value(const Parameter& parameter, std::string_view name, Setting value) {
  const ParameterAlias* alias = alias_of(parameter, name);
  if (alias != nullptr && alias->convert != nullptr) return alias->convert(value);
  use_present_word(parameter, value);
  return value;
}

std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> words;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

}  // namespace

const Parameter* find_parameter(std::span<const Parameter> table, std::string_view name) {
  for (const Parameter& parameter : table)
    if (parameter.name == name || alias_of(parameter, name) != nullptr) return &parameter;
  return nullptr;
}

Settings with_present_names(std::span<const Parameter> table, const Settings& given) {
  Settings settings;
  for (const auto& [name, value] : given) {
    const Parameter* parameter = find_parameter(table, name);
    const std::optional<Setting> meant =
        parameter == nullptr ? value : present_value(*parameter, name, value);
    if (!meant) continue;
    const std::string& present = parameter == nullptr ? name : parameter->name;
    if (!settings.emplace(present, *meant).second)
      fail(ErrorCode::usage, "--{} is given twice, once under an earlier name", present);
  }
  return settings;
}

void check_parameter(const Parameter& parameter, const Setting& value) {
  const bool number = value.shape == Setting::Shape::number;
  const bool text = value.shape == Setting::Shape::text;
  bool good = false;
  switch (parameter.type) {
    case Parameter::Type::real:
      good = (number && in_range(parameter, value.numbers[0])) || (text && is_choice(parameter, value.text));
      break;
    case Parameter::Type::integer:
      good = number && in_range(parameter, value.numbers[0]) &&
             value.numbers[0] == std::floor(value.numbers[0]) &&
             std::abs(value.numbers[0]) <= 9007199254740992.0;
      break;
    case Parameter::Type::flag:
      good = number && (value.numbers[0] == 0.0 || value.numbers[0] == 1.0);
      break;
    case Parameter::Type::choice:
      good = text && is_choice(parameter, value.text);
      break;
    case Parameter::Type::words: {
      const std::vector<std::string> words = split_words(value.text);
      good = text && std::all_of(words.begin(), words.end(),
                                 [&](const std::string& word) { return is_choice(parameter, word); });
      break;
    }
    case Parameter::Type::numbers:
      good = (number || value.shape == Setting::Shape::vector) &&
             has_right_count(parameter, value.numbers.size()) &&
             std::all_of(value.numbers.begin(), value.numbers.end(),
                         [&](double v) { return in_range(parameter, v); });
      break;
  }
  if (!good) refuse(parameter, value);
}

Setting parse_parameter(const Parameter& parameter, std::string_view text) {
  Setting value{Setting::Shape::text, {}, 0, std::string(text)};
  try {
    if (parameter.type == Parameter::Type::numbers && !text.starts_with('['))
      value = parse_setting(fmt::format("[{}]", text));
    else if (parameter.type != Parameter::Type::choice && parameter.type != Parameter::Type::words &&
             !is_choice(parameter, value.text))
      value = parse_setting(text);
  } catch (const Error&) {
    fail(ErrorCode::usage, "--{} takes {}, not '{}'", parameter.name, describe_range(parameter), text);
  }
  use_present_word(parameter, value);
  check_parameter(parameter, value);
  return value;
}

std::optional<Setting> parse_parameter(const Parameter& parameter, std::string_view name,
                                       std::string_view text) {
  const ParameterAlias* alias = alias_of(parameter, name);
  if (alias == nullptr || alias->convert == nullptr) return parse_parameter(parameter, text);
  const std::optional<Setting> value =
      alias->convert(parse_setting(text));  // parse_setting's error names the text
  if (value) check_parameter(parameter, *value);
  return value;
}

ParameterValues::ParameterValues(std::span<const Parameter> table, const Settings& given) {
  for (const Parameter& parameter : table)
    if (!parameter.fallback.empty())
      values_.emplace(parameter.name, parse_parameter(parameter, parameter.fallback));
  for (const auto& [name, value] : with_present_names(table, given)) {
    const Parameter* parameter = find_parameter(table, name);
    if (parameter == nullptr) {
      std::vector<std::string> names;
      for (const Parameter& known : table) names.push_back(known.name);
      fail(ErrorCode::usage, "there is no parameter '{}'; the parameters are {}", name,
           fmt::join(names, ", "));
    }
    check_parameter(*parameter, value);
    values_.insert_or_assign(name, value);
  }
}

const Setting& ParameterValues::at(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) fail(ErrorCode::bug, "parameter '{}' was read but has no value", name);
  return found->second;
}

double ParameterValues::real(std::string_view name) const { return at(name).numbers.at(0); }
std::size_t ParameterValues::integer(std::string_view name) const {
  return static_cast<std::size_t>(at(name).numbers.at(0));
}
bool ParameterValues::flag(std::string_view name) const { return at(name).numbers.at(0) != 0.0; }
const std::string& ParameterValues::choice(std::string_view name) const { return at(name).text; }
std::vector<std::string> ParameterValues::words(std::string_view name) const {
  return split_words(at(name).text);
}
bool ParameterValues::is_word(std::string_view name) const { return at(name).shape == Setting::Shape::text; }
const std::vector<double>& ParameterValues::numbers(std::string_view name) const { return at(name).numbers; }

}  // namespace coppice
