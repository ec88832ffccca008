// A text table: columns as wide as their widest cell, numbers to the right.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "coppice/app/context.hpp"

namespace coppice::app {

class TextTable {
 public:
  /// Columns are at least as wide as given here, two blanks between them included; the first one is aligned
  /// to the left, the others to the right.
  explicit TextTable(std::vector<std::size_t> least_widths) : widths_(std::move(least_widths)) {}

  /// The first row is the heading. As many cells as there are columns.
  void add(std::vector<std::string> cells);
  std::string text(const Context& context) const;

 private:
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
};

/// A small histogram, one character for each count.
std::string bars_of(const std::vector<std::size_t>& counts);

}  // namespace coppice::app
