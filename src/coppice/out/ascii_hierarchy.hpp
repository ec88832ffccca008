// A tree of nested clusters for the terminal: one line for each node with its name at the left and its level,
// rows and support in columns at the right, the rows of a leaf on a line of their own below it, largest
// siblings first.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "coppice/post/hierarchy.hpp"

namespace coppice {

struct AsciiHierarchyOptions {
  std::size_t width = 100;    // of a line, in columns; at least 60 is used
  std::size_t max_lines = 0;  // draw the smallest nodes of a parent as one line until the tree fits; 0: never
  bool unicode = true;        // false: + - | ` only
  std::function<std::string(std::string_view)> heading =
      {};  // how the first line is set off; empty: not at all
  std::function<std::string(std::string_view)> quiet = {};  // how the rows of leaves are set back
};

/// `captions` by node id, `row_names` by row. Every line ends in "\n"; none is wider than the width.
std::string ascii_hierarchy(const Hierarchy& tree, std::span<const NodeCaption> captions,
                            std::span<const std::string> row_names,
                            const AsciiHierarchyOptions& options = {});

/// "a, b, c" with as many names as fit into the width, then "… 12 more".
std::string name_some_rows(std::span<const std::uint32_t> rows, std::span<const std::string> row_names,
                           std::size_t width, bool unicode = true);

}  // namespace coppice
