// The columns of a table one by one: what all replicas of a chain share.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "coppice/family/cell_column.hpp"
#include "coppice/family/family.hpp"
#include "coppice/family/rows.hpp"

namespace coppice::crosscat {

class Columns {
 public:
  /// Throws Error{configuration} if columns depend on each other within a cluster.
  Columns(const Family& family, const Rows& rows);

  std::size_t count() const { return columns_.size(); }
  std::size_t rows() const { return rows_->size(); }
  const Family& all() const { return *family_; }
  const Rows& table() const { return *rows_; }
  const Family& family(std::size_t column) const { return *families_[column]; }
  const CellColumn& operator[](std::size_t column) const { return *columns_[column]; }
  /// The cells of the table are other ones now.
  void data_changed();

 private:
  const Family* family_;
  const Rows* rows_;
  std::vector<std::unique_ptr<Family>> families_;
  std::vector<std::unique_ptr<CellColumn>> columns_;
};

}  // namespace coppice::crosscat
