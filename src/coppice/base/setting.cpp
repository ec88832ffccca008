#include "coppice/base/setting.hpp"

#include <fmt/format.h>

#include "coppice/base/error.hpp"
#include "coppice/base/toml.hpp"
#include "coppice/base/toml_text.hpp"

namespace coppice {
namespace {

double number_of(const toml::node& node, std::string_view toml) {
  // Whole numbers beyond 2^53 are rounded, as they are when they are written with a decimal point.
  if (const auto integer = node.as_integer()) return static_cast<double>(integer->get());
  if (const auto real = node.as_floating_point()) return real->get();
  fail(ErrorCode::usage, "'{}' is not a number, an array of numbers or an array of arrays of numbers", toml);
}

Setting array_setting(const toml::array& array, std::string_view toml) {
  Setting setting{Setting::Shape::vector, {}, 0, {}};
  const bool matrix = !array.empty() && array.front().is_array();
  for (const toml::node& element : array) {
    if (!matrix) {
      setting.numbers.push_back(number_of(element, toml));
      continue;
    }
    const toml::array* row = element.as_array();
    if (row == nullptr || row->size() != array.front().as_array()->size())
      fail(ErrorCode::usage, "'{}' is not a matrix: its rows have different lengths", toml);
    for (const toml::node& cell : *row) setting.numbers.push_back(number_of(cell, toml));
  }
  if (matrix) {
    setting.shape = Setting::Shape::matrix;
    setting.rows = array.size();
  }
  return setting;
}

std::string join(const double* begin, const double* end) {
  std::string out = "[";
  for (const double* value = begin; value != end; ++value)
    out += fmt::format("{}{}", value == begin ? "" : ", ", *value);
  return out + "]";
}

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + "\"";
}

/// TOML does not know .3, which people write for 0.3.
std::string with_leading_zeros(std::string_view toml) {
  std::string out;
  char quote = 0;
  for (std::size_t i = 0; i < toml.size(); ++i) {
    const char c = toml[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
      if (c == '\\' && quote == '"' && i + 1 < toml.size()) out += toml[i++];
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '.' && i + 1 < toml.size() && toml[i + 1] >= '0' && toml[i + 1] <= '9' &&
               (i == 0 || std::string_view(" [,+-").find(toml[i - 1]) != std::string_view::npos)) {
      out += '0';
    }
    out += toml[i];
  }
  return out;
}

}  // namespace

Setting parse_setting(std::string_view toml) {
  const std::string document = fmt::format("value = {}", with_leading_zeros(toml));
  if (find_stray_character(document) != std::string_view::npos)
    fail(ErrorCode::usage, "'{}' is not a TOML value: non-ASCII letters must be quoted", toml);
  if (find_deep_nesting(document) != std::string_view::npos)
    fail(ErrorCode::usage,
         "the value is nested too deeply (a number, an array, a matrix or a \"text\" is expected)");
  const toml::parse_result result = toml::parse(document);
  const toml::node* node = result ? result.table().get("value") : nullptr;
  if (node == nullptr || result.table().size() != 1)
    fail(ErrorCode::usage, "'{}' is not a TOML value (a number, an array, a matrix or a \"text\")", toml);
  if (const toml::array* array = node->as_array()) return array_setting(*array, toml);
  if (node->is_string()) return {Setting::Shape::text, {}, 0, *node->value<std::string>()};
  if (const auto flag = node->as_boolean()) return Setting::number(flag->get() ? 1.0 : 0.0);
  return Setting::number(number_of(*node, toml));
}

std::string to_toml(const Setting& setting) {
  const double* data = setting.numbers.data();
  switch (setting.shape) {
    case Setting::Shape::text:
      return quote(setting.text);
    case Setting::Shape::number:
      return fmt::format("{}", setting.numbers.at(0));
    case Setting::Shape::vector:
      return join(data, data + setting.numbers.size());
    case Setting::Shape::matrix:
      break;
  }
  const std::size_t columns = setting.numbers.size() / setting.rows;
  std::string out = "[";
  for (std::size_t row = 0; row < setting.rows; ++row)
    out += (row == 0 ? "" : ", ") + join(data + row * columns, data + (row + 1) * columns);
  return out + "]";
}

void parse_assignment(std::string_view text, Settings& settings) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    fail(ErrorCode::usage, "'{}' is not of the form NAME=VALUE", text);
  settings.insert_or_assign(std::string(text.substr(0, equals)), parse_setting(text.substr(equals + 1)));
}

}  // namespace coppice
