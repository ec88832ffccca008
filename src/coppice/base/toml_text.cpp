#include "coppice/base/toml_text.hpp"

#include <algorithm>
#include <string>

namespace coppice {

std::size_t find_stray_character(std::string_view text) {
  std::size_t at = text.starts_with("\xef\xbb\xbf") ? 3 : 0;
  const auto beyond_ascii = [&](std::size_t i) {
    return i < text.size() && static_cast<unsigned char>(text[i]) >= 0x80;
  };
  while (at < text.size()) {
    const char c = text[at];
    if (beyond_ascii(at)) return at;
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (c != '"' && c != '\'') {
      ++at;
    } else {
      const bool multiline = text.substr(at, 3) == std::string(3, c);
      const std::string closing(multiline ? 3 : 1, c);
      for (at += closing.size(); at < text.size() && text.substr(at, closing.size()) != closing; ++at) {
        if (!multiline && text[at] == '\n') break;
        if (c != '"' || text[at] != '\\') continue;
        ++at;
        const std::size_t next = multiline ? text.find_first_not_of(" \t\r\n", at) : at;
        if (next != at && beyond_ascii(next)) return next;
      }
      // Up to two quotes directly before the closing three belong to the text.
      at = std::min(at + closing.size(), text.size());
      for (int extra = 0; multiline && extra < 2 && at < text.size() && text[at] == c; ++extra) ++at;
    }
  }
  return std::string_view::npos;
}

}  // namespace coppice
