#include "coppice/data/bananas.hpp"

#include <cmath>
#include <numbers>
#include <string>

namespace coppice {

Table Bananas::draw(Stream& stream) const {
  Table table;
  table.columns = {{"x", Kind::real, {}, {}}, {"y", Kind::real, {}, {}}};
  for (std::size_t row = 0; row < rows; ++row) {
    table.row_ids.push_back(std::to_string(row + 1));
    const double turn = 1.25 * draw_uniform(stream);
    const bool first = arc(row) == 0;
    const double angle = std::numbers::pi * (first ? 0.125 + turn : 0.375 - turn);
    const double offset = first ? 0.0 : 0.75 * radius;
    table.columns[0].values.push_back(radius * std::sin(angle) - offset + noise * draw_normal(stream));
    table.columns[1].values.push_back(radius * std::cos(angle) - offset + noise * draw_normal(stream));
  }
  return table;
}

}  // namespace coppice
