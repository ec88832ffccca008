#include "coppice/app/text_table.hpp"

#include <algorithm>

namespace coppice::app {

void TextTable::add(std::vector<std::string> cells) {
  for (std::size_t column = 0; column < widths_.size(); ++column)
    widths_[column] = std::max(widths_[column], cells[column].size() + (column == 0 ? 0 : 2));
  rows_.push_back(std::move(cells));
}

std::string TextTable::text(const Context& context) const {
  std::string all;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    std::string line = fmt::format("{:<{}}", rows_[row].front(), widths_.front());
    for (std::size_t column = 1; column < widths_.size(); ++column)
      line += fmt::format("{:>{}}", rows_[row][column], widths_[column]);
    line += '\n';
    all += row == 0 ? context.bold(line) : line;
  }
  return all;
}

}  // namespace coppice::app
