#include "coppice/base/toml_text.hpp"

#include <algorithm>
#include <string>

namespace coppice {
namespace {

constexpr std::size_t kMostLevels = 64;
constexpr std::string_view kWhitespace = " \t\n\v\f\r";

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text), at_(text.starts_with("\xef\xbb\xbf") ? 3 : 0) {}

  std::size_t find_stray() {
    scan();
    return stray_;
  }
  std::size_t find_deep() {
    scan();
    return deep_;
  }

 private:
  enum class Place { key, value, after_value };

  /// Up to the first finding.
  void scan() {
    while (at_ < text_.size() && stray_ == std::string_view::npos && deep_ == std::string_view::npos) {
      const char c = text_[at_];
      if (beyond_ascii(at_))
        stray_ = at_;
      else if (c == '#')
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (kWhitespace.find(c) != std::string_view::npos)
        skip_whitespace(c);
      else if (place_ == Place::key)
        scan_key(c);
      else
        scan_value(c);
      if (open_.size() > kMostLevels || parts_ > kMostLevels) deep_ = at_;
    }
  }

  bool beyond_ascii(std::size_t i) const {
    return i < text_.size() && static_cast<unsigned char>(text_[i]) >= 0x80;
  }

  void skip_whitespace(char c) {
    if (c == '\n' && open_.empty()) {
      place_ = Place::key;
      parts_ = 0;
    }
    ++at_;
  }

  void scan_key(char c) {
    if (c == '"' || c == '\'') {
      scan_text(c);
      return;
    }
    if (c == '.') ++parts_;
    if (c == '=') {
      place_ = Place::value;
      parts_ = 0;
    }
    if (c == '}') close();
    ++at_;
  }

  void scan_value(char c) {
    const bool begins = place_ == Place::value;
    if (begins && (c == '"' || c == '\'')) {
      scan_text(c);
      place_ = Place::after_value;
    } else if (begins && (c == '[' || c == '{')) {
      open_ += c;
      if (c == '{') place_ = Place::key;
      ++at_;
    } else if (c == ']' || c == '}') {
      close();
      ++at_;
    } else if (c == ',') {
      if (!open_.empty()) place_ = open_.back() == '[' ? Place::value : Place::key;
      ++at_;
    } else {
      // A word: quotes inside it begin no text, so the parser looks at all of it.
      while (at_ < text_.size() && !beyond_ascii(at_) && !ends_word(text_[at_])) ++at_;
      place_ = Place::after_value;
    }
  }

  static bool ends_word(char c) {
    return c == ']' || c == '}' || c == ',' || c == '#' || kWhitespace.find(c) != std::string_view::npos;
  }

  void close() {
    if (open_.empty()) return;
    open_.pop_back();
    place_ = Place::after_value;
  }

  void scan_text(char quote) {
    const bool multiline = text_.substr(at_, 3) == std::string(3, quote);
    const std::string closing(multiline ? 3 : 1, quote);
    for (at_ += closing.size(); at_ < text_.size() && text_.substr(at_, closing.size()) != closing; ++at_) {
      if (!multiline && text_[at_] == '\n') break;
      if (quote != '"' || text_[at_] != '\\') continue;
      ++at_;
      const std::size_t next = multiline ? text_.find_first_not_of(kWhitespace, at_) : at_;
      if (beyond_ascii(next)) {
        stray_ = next;
        return;
      }
    }
    // Up to two quotes directly before the closing three belong to the text.
    at_ = std::min(at_ + closing.size(), text_.size());
    for (int extra = 0; multiline && extra < 2 && at_ < text_.size() && text_[at_] == quote; ++extra) ++at_;
  }

  std::string_view text_;
  std::size_t at_;
  Place place_ = Place::key;
  std::string open_;       // the brackets around the place, outermost first
  std::size_t parts_ = 0;  // dots of the key
  std::size_t stray_ = std::string_view::npos;
  std::size_t deep_ = std::string_view::npos;
};

}  // namespace

std::size_t find_stray_character(std::string_view text) { return Scanner(text).find_stray(); }
std::size_t find_deep_nesting(std::string_view text) { return Scanner(text).find_deep(); }

}  // namespace coppice
