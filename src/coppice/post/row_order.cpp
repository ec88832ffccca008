#include "coppice/post/row_order.hpp"

#include <map>
#include <string_view>

#include "coppice/base/error.hpp"

namespace coppice {

std::vector<std::size_t> places_of_rows(const std::vector<std::string>& wanted,
                                        const std::vector<std::string>& row_ids, const std::string& path) {
  std::map<std::string_view, std::size_t> place;
  for (std::size_t row = 0; row < row_ids.size(); ++row) place.emplace(row_ids[row], row);
  std::vector<std::size_t> places;
  for (const std::string& name : wanted) {
    const auto found = place.find(name);
    if (found == place.end()) fail(ErrorCode::bad_data, "{}: there is no row '{}'", path, name);
    places.push_back(found->second);
  }
  return places;
}

Table in_order_of(const Table& table, const std::vector<std::string>& row_ids, const std::string& path) {
  if (table.rows() != row_ids.size())
    fail(ErrorCode::bad_data, "{}: has {} rows, the data have {}", path, table.rows(), row_ids.size());
  const std::vector<std::size_t> places = places_of_rows(row_ids, table.row_ids, path);
  Table sorted = table;
  sorted.row_ids = row_ids;
  for (std::size_t c = 0; c < sorted.columns.size(); ++c)
    for (std::size_t row = 0; row < table.rows(); ++row)
      sorted.columns[c].values[row] = table.columns[c].values[places[row]];
  return sorted;
}

}  // namespace coppice
