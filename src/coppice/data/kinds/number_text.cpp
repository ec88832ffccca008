// Strips sign, currency and percent sign, then takes the digits apart by their separators.
#include "coppice/data/kinds/number_text.hpp"

#include <array>

#include "coppice/data/text.hpp"

namespace coppice::text {
namespace {

constexpr std::array<std::string_view, 10> kCurrencies = {"$",   "€",   "£",   "¥",   "₹",
                                                          "USD", "EUR", "GBP", "CHF", "JPY"};
constexpr std::string_view kNoBreakSpace = "\xc2\xa0";
constexpr std::string_view kNarrowSpace = "\xe2\x80\xaf";
constexpr std::string_view kMinus = "\xe2\x88\x92";

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

void trim_blanks(std::string_view& text) {
  for (;;) {
    const std::size_t before = text.size();
    text = trim(text);
    for (const std::string_view blank : {kNoBreakSpace, kNarrowSpace}) {
      take_prefix(text, blank);
      if (text.ends_with(blank)) text.remove_suffix(blank.size());
    }
    if (text.size() == before) return;
  }
}

bool take_sign(std::string_view& text, bool& negative) {
  negative = take_prefix(text, "-") || take_prefix(text, kMinus);
  return negative || take_prefix(text, "+");
}

/// The currency or percent sign at either end; false if there are two.
bool take_mark(std::string_view& text, std::string& mark) {
  for (const std::string_view currency : kCurrencies) {
    const bool before = take_prefix(text, currency);
    const bool after = !before && text.ends_with(currency);
    if (after) text.remove_suffix(currency.size());
    if (!before && !after) continue;
    mark = currency;
    break;
  }
  trim_blanks(text);
  if (!text.ends_with('%')) return true;
  if (!mark.empty()) return false;
  mark.assign(1, '%');
  text.remove_suffix(1);
  trim_blanks(text);
  return true;
}

/// The sign between groups at the front of the text, or nothing. Only one sort may occur in a number.
std::string_view separator_at(std::string_view text, char thousands) {
  for (const std::string_view sign :
       {std::string_view(" "), std::string_view("'"), std::string_view("_"), kNoBreakSpace, kNarrowSpace})
    if (text.starts_with(sign)) return sign;
  return text.starts_with(thousands) ? text.substr(0, 1) : std::string_view();
}

/// Digits in groups of three (of any length for _), without their separators. No such number begins with 0:
/// 0,125 has decimals.
bool take_whole_part(std::string_view& text, char thousands, std::string& digits, bool& one_group) {
  std::string_view separator;
  const bool starts_with_zero = text.starts_with('0');
  std::size_t group = 0;
  std::size_t groups = 1;
  while (!text.empty()) {
    if (is_digit(text[0])) {
      digits += text[0];
      ++group;
      text.remove_prefix(1);
      continue;
    }
    const std::string_view sign = separator_at(text, thousands);
    if (sign.empty()) break;
    if (!separator.empty() && sign != separator) return false;
    const bool is_full = groups == 1 ? group >= 1 && group <= 3 && !starts_with_zero : group == 3;
    if (sign == "_" ? group == 0 : !is_full) return false;
    separator = sign;
    text.remove_prefix(sign.size());
    group = 0;
    ++groups;
  }
  one_group = groups == 2 && separator.size() == 1 && separator[0] == thousands;
  return groups == 1 || (separator == "_" ? group > 0 : group == 3);
}

}  // namespace

bool parse_written_number(std::string_view text, DecimalMark decimal, WrittenNumber& number) {
  const char point = decimal == DecimalMark::point ? '.' : ',';
  const char thousands = decimal == DecimalMark::point ? ',' : '.';
  number = {};
  trim_blanks(text);
  bool negative = false;
  const bool signed_before = take_sign(text, negative);
  trim_blanks(text);
  if (!take_mark(text, number.mark)) return false;
  if (!signed_before) take_sign(text, negative);
  std::string clean;
  if (negative) clean.push_back('-');
  bool one_group = false;
  const bool starts_with_zero = text.starts_with('0');
  if (!take_whole_part(text, thousands, clean, one_group)) return false;
  const bool has_digits = !clean.empty() && is_digit(clean.back());
  if (!text.empty() && text[0] == point) {
    clean += '.';
    text.remove_prefix(1);
    const std::size_t at = text.find_first_not_of("0123456789");
    const std::string_view decimals = text.substr(0, at);
    if (decimals.empty() && !has_digits) return false;
    number.ambiguous = decimals.size() == 3 && text.size() == 3 && !one_group && !starts_with_zero;
    clean += decimals;
    text.remove_prefix(decimals.size());
  } else {
    if (!has_digits) return false;
    number.ambiguous = one_group && text.empty();
  }
  clean += text;  // an exponent, or something that is not a number
  return parse_number(clean, number.value) == Parsed::number;
}

}  // namespace coppice::text
