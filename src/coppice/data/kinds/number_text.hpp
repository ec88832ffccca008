// Numbers as people and spreadsheets write them: with thousands separators, a decimal comma, a percent sign
// or a currency. Plain numbers are read elsewhere (number.hpp); this is for what is left over.
#pragma once

#include <string>
#include <string_view>

namespace coppice::text {

/// Which sign is the decimal mark; the other one may separate thousands, as may blanks, ' and _.
enum class DecimalMark { point, comma };

struct WrittenNumber {
  double value = 0.0;
  std::string mark;        // "%", or the currency; empty: none
  bool ambiguous = false;  // one sign before three digits: thousands for one mark, decimals for the other
};

/// Whether the whole text is a number in one of these forms; false for an infinite one.
bool parse_written_number(std::string_view text, DecimalMark decimal, WrittenNumber& number);

}  // namespace coppice::text
