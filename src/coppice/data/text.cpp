// Number classification, UTF-8 validation and the wording helpers of the readers' messages.
#include "coppice/data/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "coppice/base/close_names.hpp"
#include "coppice/data/number.hpp"

namespace coppice::text {
namespace {

constexpr std::array<std::string_view, 20> kMissingTokens = {
    "",   "NA",  "N/A",  "NaN",  "nan",  "?",    "null", "NULL", "None", "NAN",
    "na", "n/a", "Null", "-nan", "-NaN", "-NAN", "+nan", "#N/A", "<NA>", "NaT"};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

// Whether a decimal number that does not fit a double is too large (true) or too small. It looks at the power
// of ten of the first digit that is not zero.
bool is_too_large(std::string_view digits) {
  long power = 0;
  bool point = false;
  bool significant = false;
  std::size_t i = 0;
  for (; i < digits.size() && (is_digit(digits[i]) || digits[i] == '.'); ++i) {
    if (digits[i] == '.') {
      point = true;
      continue;
    }
    significant = significant || digits[i] != '0';
    if (significant && !point) ++power;
    if (!significant && point) --power;
  }
  if (i == digits.size()) return power > 0;
  ++i;  // the e
  const bool negative = i < digits.size() && digits[i] == '-';
  if (i < digits.size() && (digits[i] == '-' || digits[i] == '+')) ++i;
  long exponent = 0;
  constexpr long kSaturated = 1L << 40;
  for (; i < digits.size(); ++i) exponent = std::min(kSaturated, exponent * 10 + (digits[i] - '0'));
  return power + (negative ? -exponent : exponent) > 0;
}

std::size_t sequence_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  const unsigned char second = byte(at + 1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool surrogate = first == 0xed && second > 0x9f;
  const bool beyond = first == 0xf4 && second > 0x8f;
  return overlong || surrogate || beyond ? 0 : length;
}

/// What bold, dim and plain text begin with.
constexpr std::array<std::string_view, 3> kStyles = {"\033[0m", "\033[1m", "\033[2m"};

/// Marks that reverse what is shown, so that it reads as something else: U+061C, 200E, 200F, 202A-202E,
/// 2066-2069.
bool turns_direction(std::string_view character) {
  if (character == "\xd8\x9c") return true;
  if (character.size() != 3 || character[0] != '\xe2') return false;
  const auto second = static_cast<unsigned char>(character[1]);
  const auto third = static_cast<unsigned char>(character[2]);
  return (second == 0x80 && (third == 0x8e || third == 0x8f || (third >= 0xaa && third <= 0xae))) ||
         (second == 0x81 && third >= 0xa6 && third <= 0xa9);
}

/// Appends the character at the place, escaped unless it is visible; returns its length.
std::size_t append_visible(std::string_view text, std::size_t at, std::string& out) {
  const std::size_t length = std::max<std::size_t>(sequence_length(text, at), 1);
  const std::string_view character = text.substr(at, length);
  const auto byte = static_cast<unsigned char>(text[at]);
  const bool is_broken = sequence_length(text, at) == 0;
  const bool is_control = byte < 0x20 || byte == 0x7f ||
                          (length == 2 && byte == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0);
  if (is_broken || is_control || turns_direction(character)) {
    for (const char c : character) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  } else {
    out += character;
  }
  return length;
}

}  // namespace

Parsed parse_number(std::string_view text, double& value) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const char* end = text.data() + text.size();
  if (const char* stop = scan_number(text.data(), end, value); stop != nullptr)
    return stop == end ? Parsed::number : Parsed::not_number;
  std::string_view magnitude = text;
  if (magnitude.starts_with('-')) magnitude.remove_prefix(1);
  if (equal_ignoring_case(magnitude, "inf") || equal_ignoring_case(magnitude, "infinity"))
    return Parsed::infinite;
  if (magnitude.empty() || !(is_digit(magnitude[0]) || magnitude[0] == '.')) return Parsed::not_number;
  const std::from_chars_result result = std::from_chars(text.data(), end, value);
  if (result.ptr != end || result.ec == std::errc::invalid_argument) return Parsed::not_number;
  if (result.ec == std::errc()) return Parsed::number;
  if (is_too_large(magnitude)) return Parsed::infinite;
  value = text.starts_with('-') ? -0.0 : 0.0;
  return Parsed::number;
}

bool is_missing_token(std::string_view text) {
  return text.size() <= 4 &&
         std::find(kMissingTokens.begin(), kMissingTokens.end(), text) != kMissingTokens.end();
}

bool is_valid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const auto style = std::find_if(kStyles.begin(), kStyles.end(),
                                    [&](std::string_view known) { return rest.starts_with(known); });
    if (style != kStyles.end()) {
      out += *style;
      at += style->size();
    } else if (text[at] == '\n' || text[at] == '\t') {
      out += text[at++];
    } else {
      at += append_visible(text, at, out);
    }
  }
  return out;
}

std::string display(std::string_view text, std::size_t longest) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (out.size() >= longest) return out + "...";
    if (text[at] == '\n') {
      out += "\\n";
      ++at;
    } else {
      at += append_visible(text, at, out);
    }
  }
  return out;
}

std::string list_names(std::span<const std::string> names, std::size_t most) {
  std::string out;
  const std::size_t shown = std::min(names.size(), most);
  for (std::size_t i = 0; i < shown; ++i) out += fmt::format("{}'{}'", i == 0 ? "" : ", ", display(names[i]));
  if (names.size() > shown) out += fmt::format(" and {} more", names.size() - shown);
  return out;
}

std::string suggest(std::string_view wanted, std::span<const std::string> known) {
  const std::vector<std::string> names = close_names(wanted, known);
  return names.empty() ? fmt::format("the columns are {}", list_names(known, 8))
                       : fmt::format("did you mean {}?", list_names(names));
}

}  // namespace coppice::text
