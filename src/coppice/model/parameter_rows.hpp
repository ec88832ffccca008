// The rows that parameter tables of models have in common.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "coppice/base/parameter.hpp"
#include "coppice/prior/concentration.hpp"

namespace coppice {

inline constexpr double kNoLimit = 1e300;

/// A parameter of one number for each column of the table, whichever order its cells are encoded in.
inline constexpr const char* kColumnPriority = "column-priority";

/// A number above zero.
inline Parameter positive_row(const char* name, const char* fallback, const char* help) {
  return {name, Parameter::Type::real, fallback, help, 0.0, kNoLimit, true};
}

/// One of a few words.
inline Parameter choice_row(const char* name, const char* fallback, const char* help,
                            const std::vector<std::string>& choices,
                            const std::vector<WordAlias>& earlier_words = {}) {
  return {.name = name,
          .type = Parameter::Type::choice,
          .fallback = fallback,
          .help = help,
          .choices = choices,
          .word_aliases = earlier_words};
}

/// A whole number.
inline Parameter count_row(const char* name, const char* fallback, const char* help, double low = 0.0,
                           double high = 1e6) {
  return {name, Parameter::Type::integer, fallback, help, low, high};
}

/// Two numbers above zero: the parameters of a prior.
inline Parameter prior_row(const char* name, const char* fallback, const char* help) {
  return {name, Parameter::Type::numbers, fallback, help, 0.0, kNoLimit, true, {}, 2};
}

/// Whether --learn names it.
inline bool learns(const ParameterValues& parameters, const std::string& name) {
  if (!parameters.has("learn")) return false;
  const std::vector<std::string> words = parameters.words("learn");
  return std::find(words.begin(), words.end(), name) != words.end();
}

/// The value of a prior_row.
inline GammaPrior gamma_prior_of(const ParameterValues& parameters, const char* name) {
  const std::vector<double>& numbers = parameters.numbers(name);
  return {numbers[0], numbers[1]};
}

/// The concentration of that name, learned under NAME-prior if --learn names it.
inline Concentration concentration_of(const ParameterValues& parameters, const std::string& name) {
  const double value = parameters.real(name);
  if (!learns(parameters, name)) return Concentration(value);
  return {value, gamma_prior_of(parameters, (name + "-prior").c_str())};
}

}  // namespace coppice
