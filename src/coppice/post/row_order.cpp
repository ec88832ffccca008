#include "coppice/post/row_order.hpp"

#include <map>

#include "coppice/base/error.hpp"

namespace coppice {

Table in_order_of(const Table& table, const std::vector<std::string>& row_ids, const std::string& path) {
  if (table.rows() != row_ids.size())
    fail(ErrorCode::bad_data, "{}: has {} rows, the data have {}", path, table.rows(), row_ids.size());
  std::map<std::string, std::size_t> place;
  for (std::size_t row = 0; row < table.rows(); ++row) place.emplace(table.row_ids[row], row);
  Table sorted = table;
  sorted.row_ids = row_ids;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto found = place.find(row_ids[row]);
    if (found == place.end()) fail(ErrorCode::bad_data, "{}: there is no row '{}'", path, row_ids[row]);
    for (std::size_t c = 0; c < sorted.columns.size(); ++c)
      sorted.columns[c].values[row] = table.columns[c].values[found->second];
  }
  return sorted;
}

}  // namespace coppice
