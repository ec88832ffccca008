// Checks of TOML text before it is parsed: the parser is undefined on some characters that TOML does not
// allow, and runs out of stack where brackets are nested without end.
#pragma once

#include <cstddef>
#include <string_view>

namespace coppice {

/// The first character beyond ASCII where TOML allows none, which is outside of texts and comments, or npos;
/// also one right after a backslash or a continued line in a text. Quotes in the middle of a word begin no
/// text. The library's parser is undefined on both (tomlplusplus issues 190 and 295).
std::size_t find_stray_character(std::string_view text);

/// Where brackets, or the parts of a key, are nested deeper than anything that is meant, or npos. The
/// library's parser calls itself for every level.
std::size_t find_deep_nesting(std::string_view text);

}  // namespace coppice
