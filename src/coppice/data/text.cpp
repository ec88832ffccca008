// Number classification, UTF-8 validation and the wording helpers of the readers' messages.
#include "coppice/data/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

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

bool is_digit(char c) { return c >= '0' && c <= '9'; }

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

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, substitute}));
    }
  }
  return row[b.size()];
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

std::string display(std::string_view text, std::size_t longest) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (out.size() >= longest) return out + "...";
    const std::size_t length = sequence_length(text, at);
    const auto byte = static_cast<unsigned char>(text[at]);
    if (text[at] == '\n')
      out += "\\n";
    else if (length == 0 || byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += text.substr(at, length);
    at += std::max<std::size_t>(length, 1);
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
  std::vector<std::pair<std::size_t, std::size_t>> close;
  const std::size_t tolerance = wanted.size() < 4 ? 1 : std::clamp<std::size_t>(wanted.size() / 3, 2, 4);
  constexpr std::size_t kLongestCompared = 100;  // the distance is quadratic in the length
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (wanted.size() > kLongestCompared || known[i].size() > kLongestCompared) continue;
    const std::size_t distance = edit_distance(wanted, known[i]);
    if (distance <= tolerance && distance < std::max(wanted.size(), known[i].size()))
      close.emplace_back(distance, i);
  }
  if (close.empty()) return fmt::format("the columns are {}", list_names(known, 8));
  std::sort(close.begin(), close.end());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min<std::size_t>(close.size(), 3); ++i)
    names.push_back(known[close[i].second]);
  return fmt::format("did you mean {}?", list_names(names));
}

}  // namespace coppice::text
