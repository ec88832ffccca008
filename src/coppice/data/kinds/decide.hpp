// The rules that infer what a column is if the user does not say: its kind, family and scale, and the reason
// in words. All of them are here; the thresholds are in rules.hpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coppice/data/kinds/rules.hpp"
#include "coppice/data/table.hpp"

namespace coppice {

struct Decision {
  Kind kind = Kind::real;
  std::string family = {};
  std::string transform = {};
  std::optional<double> hurdle = {};
  std::optional<double> resolution = {};
  std::string reason = {};
  std::string left_out = {};             // why it is not modeled; empty: it is
  std::string ambiguous = {};            // what else it could be, and how to say so; empty: nothing
  std::string sentinel = {};             // a number that looks like a code for missing; empty: none
  std::vector<std::string> levels = {};  // of a category: values that may come although none is there yet
};

struct NumberColumn {
  std::string_view name;
  std::span<const double> values;  // NaN: missing
  std::string_view unit = {};      // if it is known: dates are never counts
  bool leading_zeros = false;      // some numbers are written like 02139
  bool names_rows = false;         // it stands where row names are written
};

/// Of a column of numbers that is not empty.
Decision decide_numbers(const NumberColumn& column, const KindRules& rules);
struct TextColumn {
  std::size_t levels = 0;
  std::size_t present = 0;
  bool boolean = false;     // two words such as yes and no
  bool names_rows = false;  // it stands where row names are written
};

/// Of a column of texts that is not empty.
Decision decide_texts(const TextColumn& column, const KindRules& rules);

/// A name such as id, index or customer_id.
bool is_identifier_name(std::string_view name);
/// 0.3125, 1200, 1.2e-05: four digits at most, for reasons.
std::string short_number(double value);

}  // namespace coppice
