// Parameters described once, as data: name, type, default, range and help text. The command line, the TOML
// configuration, the documentation and the language bindings follow from these tables.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coppice/base/setting.hpp"

namespace coppice {

/// An earlier name of a parameter, accepted for one more release.
struct ParameterAlias {
  std::string name;  // the earlier name
  /// Converts a value given under this name; returns nothing if it means the default. nullptr: no conversion.
  /// May throw Error{usage}.
  std::optional<Setting> (*convert)(const Setting&) = nullptr;
  /// Whether it may be given without a value on the command line, meaning true.
  bool is_flag = false;
};

/// An earlier word of a choice.
struct WordAlias {
  std::string earlier;  // the old word
  std::string word;     // the present one
};

/// One setting of a model or of a run: its name, type, range, default and help.
struct Parameter {
  /// A real that has choices may be one of those words instead; words is a comma-separated list of choices.
  enum class Type { real, integer, flag, choice, numbers, words };

  std::string name;        // with dashes, as on the command line
  Type type = Type::real;  // what values look like
  std::string fallback;    // default as TOML; empty: not set, or taken from the data
  std::string help;        // one line for users
  double low = -std::numeric_limits<double>::infinity();  // smallest value
  double high = std::numeric_limits<double>::infinity();  // largest value
  bool low_excluded = false;                              // whether `low` itself is not allowed
  std::vector<std::string> choices = {};                  // the words that are allowed
  std::size_t count = 0;                                  // how many numbers; 0: any
  std::size_t least_count = 0;                            // of them, if the last may be left out; 0: all
  std::vector<ParameterAlias> aliases = {};               // earlier names
  std::vector<WordAlias> word_aliases = {};               // earlier words of a choice
};

/// The parameter with that present or earlier name; nullptr if there is none.
const Parameter* find_parameter(std::span<const Parameter> table, std::string_view name);

/// The settings under present names and words. Unknown names stay as they are. Throws Error{usage} if a
/// parameter is given under two names.
Settings with_present_names(std::span<const Parameter> table, const Settings& given);

/// Checked values of a parameter table.
class ParameterValues {
 public:
  ParameterValues() = default;
  /// Takes `given`, under present or earlier names, over the defaults; throws Error{usage} for an unknown
  /// name, a wrong type or a value out of range, naming the value and what is allowed.
  ParameterValues(std::span<const Parameter> table, const Settings& given);

  /// Whether the parameter has a value, given or by default.
  bool has(std::string_view name) const { return values_.find(name) != values_.end(); }
  /// The value of a real parameter.
  double real(std::string_view name) const;
  /// The value of an integer parameter.
  std::size_t integer(std::string_view name) const;
  /// The value of a flag.
  bool flag(std::string_view name) const;
  /// The chosen word of a choice.
  const std::string& choice(std::string_view name) const;
  /// The values of a parameter that is a list of numbers.
  const std::vector<double>& numbers(std::string_view name) const;
  /// The chosen words of a list of choices, in the order given.
  std::vector<std::string> words(std::string_view name) const;
  /// Whether a real was given as one of its words.
  bool is_word(std::string_view name) const;
  /// All values by name, defaults included.
  const Settings& settings() const { return values_; }

 private:
  const Setting& at(std::string_view name) const;
  Settings values_;
};

/// Throws Error{usage} if the value does not fit the parameter.
void check_parameter(const Parameter& parameter, const Setting& value);

/// Reads a value as a user types it after a flag: "3", "true", "gibbs", "1,0.5".
Setting parse_parameter(const Parameter& parameter, std::string_view text);
/// The same after the flag `name`, which may be an earlier name of the parameter; nothing if the value means
/// the default.
std::optional<Setting> parse_parameter(const Parameter& parameter, std::string_view name,
                                       std::string_view text);

/// "a number > 0", "one of gibbs, split-merge": what the parameter accepts, in words.
std::string describe_range(const Parameter& parameter);

}  // namespace coppice
