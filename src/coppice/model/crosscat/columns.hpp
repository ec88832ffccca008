// The columns of a table one by one, with the priors of their views: what all replicas of a chain share.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "coppice/family/cell_column.hpp"
#include "coppice/family/family.hpp"
#include "coppice/family/rows.hpp"
#include "coppice/model/crosscat/options.hpp"
#include "coppice/prior/crp.hpp"

namespace coppice::crosscat {

class Columns {
 public:
  /// Throws Error{configuration} if columns depend on each other within a cluster.
  Columns(const Family& family, const Rows& rows, const Options& options);

  std::size_t count() const { return columns_.size(); }
  std::size_t rows() const { return rows_->size(); }
  const Family& all() const { return *family_; }
  const Rows& table() const { return *rows_; }
  const Family& family(std::size_t column) const { return *families_[column]; }
  const CellColumn& operator[](std::size_t column) const { return *columns_[column]; }
  /// The cells of the table are other ones now.
  void data_changed();

  const Crp& row_prior() const { return row_prior_; }
  const Crp& column_prior() const { return column_prior_; }

 private:
  const Family* family_;
  const Rows* rows_;
  std::vector<std::unique_ptr<Family>> families_;
  std::vector<std::unique_ptr<CellColumn>> columns_;
  Crp row_prior_, column_prior_;
};

}  // namespace coppice::crosscat
