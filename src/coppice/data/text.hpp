// Small questions about text that every reader asks: is it a number, is it missing, is it UTF-8, how is it
// shown in a message, which known names are close to it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace coppice::text {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

enum class Parsed { number, infinite, not_number };

/// Reads the whole text as a decimal number (an optional sign, no spaces). Infinite covers the words and
/// every number beyond the range of a double; a number too small for a double is zero.
Parsed parse_number(std::string_view text, double& value);

/// Empty, or one of the usual words: NA, N/A, n/a, na, NaN, nan, NAN, -nan, ?, null, NULL, None, #N/A, <NA>,
/// NaT.
bool is_missing_token(std::string_view text);

/// A missing token that is an answer among other words: None, Some, Marked.
inline constexpr std::string_view kNone = "None";

bool is_valid_utf8(std::string_view text);
std::string_view trim(std::string_view text);
/// The text as a terminal may show it: control characters, marks that change the direction of writing and
/// broken UTF-8 are escaped; line feeds, tabs and our own bold, dim and plain stay.
std::string printable(std::string_view text);
/// The same on one line, with line feeds and tabs escaped too and a long tail cut off.
std::string display(std::string_view text, std::size_t longest = 60);
/// "did you mean ...?" for close names, otherwise the first known names: a clause that ends a message.
std::string suggest(std::string_view wanted, std::span<const std::string> known);
/// 'a', 'b', 'c' and 7 more.
std::string list_names(std::span<const std::string> names, std::size_t most = 5);

}  // namespace coppice::text
