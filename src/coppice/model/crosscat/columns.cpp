#include "coppice/model/crosscat/columns.hpp"

#include "coppice/base/error.hpp"
#include "coppice/family/registry.hpp"

namespace coppice::crosscat {

Columns::Columns(const Family& family, const Rows& rows) : family_(&family), rows_(&rows) {
  for (std::size_t column = 0; column < family.width(); ++column) {
    const std::size_t alone[] = {column};
    families_.push_back(family.of_cells(alone));
    if (families_.back() == nullptr)
      fail(ErrorCode::configuration,
           "crosscat divides columns into views, but the family {} models them jointly: use --family auto or "
           "{}",
           family.name(), automatic_family(Kind::real, false).name);
  }
  columns_.resize(family.width());
  data_changed();
}

void Columns::data_changed() {
  std::vector<double> cells(rows());
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    for (std::size_t row = 0; row < cells.size(); ++row) cells[row] = (*rows_)[row][column];
    columns_[column] = families_[column]->make_column(cells);
  }
}

}  // namespace coppice::crosscat
