// A hyper-parameter value as a user writes it in TOML: a number (true is 1, false is 0), a vector, a matrix,
// or a text. The same type serves --set NAME=VALUE, the codebook and the configuration kept in a run file.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace coppice {

struct Setting {
  enum class Shape { number, vector, matrix, text };
  Shape shape = Shape::number;
  std::vector<double> numbers;  // row-major for a matrix
  std::size_t rows = 0;         // of a matrix; 0 otherwise
  std::string text;

  static Setting number(double value) { return {Shape::number, {value}, 0, {}}; }
  static Setting vector(std::vector<double> values) { return {Shape::vector, std::move(values), 0, {}}; }
  bool operator==(const Setting&) const = default;
};

using Settings = std::map<std::string, Setting, std::less<>>;

/// Parses one TOML value; throws Error{usage} naming the text if it is not a number, array, matrix or string.
Setting parse_setting(std::string_view toml);
/// The TOML text that parse_setting reads back to an equal value.
std::string to_toml(const Setting& setting);
/// Parses NAME=VALUE into settings; throws Error{usage} if it has no '=' or no name.
void parse_assignment(std::string_view text, Settings& settings);

}  // namespace coppice
