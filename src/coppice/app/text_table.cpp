#include "coppice/app/text_table.hpp"

#include <algorithm>

#include "coppice/out/ascii_tree.hpp"

namespace coppice::app {

void TextTable::add(std::vector<std::string> cells) {
  for (std::size_t column = 0; column < widths_.size(); ++column)
    widths_[column] = std::max(widths_[column], display_width(cells[column]) + (column == 0 ? 0 : 2));
  rows_.push_back(std::move(cells));
}

std::string TextTable::text(const Context& context) const {
  std::string all;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    std::string line;
    for (std::size_t column = 0; column < widths_.size(); ++column) {
      const std::string& cell = rows_[row][column];
      const std::string space(widths_[column] - display_width(cell), ' ');
      line += column == 0 ? cell + space : space + cell;
    }
    line += '\n';
    all += row == 0 ? context.bold(line) : line;
  }
  return all;
}

std::string bars_of(const std::vector<std::size_t>& counts) {
  constexpr const char* kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (counts.empty()) return {};
  const std::size_t most = std::max<std::size_t>(1, *std::max_element(counts.begin(), counts.end()));
  std::string bars;
  for (const std::size_t count : counts)
    bars += count == 0 ? " " : kBlocks[std::min<std::size_t>(7, 8 * count / (most + 1))];
  return bars;
}

}  // namespace coppice::app
