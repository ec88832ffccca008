// A merge tree for the terminal: root at the left, one line for each leaf or collapsed group, columns in
// proportion to height under a ruler, joined by box-drawing characters. Merges that fall into the same column
// are drawn as one fork.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "coppice/post/linkage.hpp"

namespace coppice {

struct AsciiTreeOptions {
  std::size_t width = 100;    // of a line, in columns; at least 40 is used
  double collapse_at = -1.0;  // merges at this height or lower become "[n rows: a, b, c, ...]"
  std::size_t max_lines = 0;  // collapse further, lowest merges first, until the tree fits; 0: no limit
  bool unicode = true;        // false: + - | only
  bool ruler = true;          // a scale of heights on top
};

/// `names` as for to_newick. Every line ends in "\n"; none is wider than the width.
std::string ascii_tree(const Linkage& tree, std::span<const std::string> names,
                       const AsciiTreeOptions& options = {});

/// Columns that UTF-8 text takes in a terminal: 0 for combining marks, 2 for wide characters.
std::size_t display_width(std::string_view text);
/// The text without control characters, cut to at most `width` columns with a final ellipsis if it had to be
/// cut.
std::string fit_to_width(std::string_view text, std::size_t width, bool unicode = true);

}  // namespace coppice
