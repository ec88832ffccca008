// The columns of a table one by one, each with its hyper-parameters: what one replica of a chain knows of the
// data.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "coppice/base/rng.hpp"
#include "coppice/family/cell_column.hpp"
#include "coppice/family/family.hpp"
#include "coppice/family/rows.hpp"

namespace coppice::crosscat {

class Columns {
 public:
  /// Throws Error{configuration} if columns depend on each other within a cluster, and Error{stopped} if the
  /// flag is set meanwhile.
  Columns(const Family& family, const Rows& rows, const std::atomic<bool>* stop = nullptr);

  std::size_t count() const { return columns_.size(); }
  std::size_t rows() const { return rows_->size(); }
  /// Of all rows together; as many as rows if these have no weights.
  double copies() const { return copies_; }
  /// Of the whole table, at the hyper-parameters from which learning begins.
  const Family& all() const { return *family_; }
  const Rows& table() const { return *rows_; }
  const Family& family(std::size_t column) const { return *families_[column]; }
  const CellColumn& operator[](std::size_t column) const { return *columns_[column]; }
  /// The cells of the table are other ones now.
  void data_changed();

  /// Learned values of all columns, one column after the other; empty if none is learned.
  std::span<const double> hyper() const { return hyper_; }
  const double* hyper(std::size_t column) const { return hyper_.data() + first_hyper_[column]; }
  /// Both throw Error{bad_data} for values outside of their range.
  void set_hyper(std::span<const double> values);
  void set_hyper(std::size_t column, const double* values);
  std::size_t first_hyper(std::size_t column) const { return first_hyper_[column]; }
  double log_hyper_prior() const;
  void draw_hyper_prior(Stream& stream);

 private:
  const Family* family_;
  const Rows* rows_;
  double copies_;
  const std::atomic<bool>* stop_;
  std::vector<std::unique_ptr<Family>> families_;
  std::vector<std::unique_ptr<CellColumn>> columns_;
  std::vector<double> hyper_;
  std::vector<std::size_t> first_hyper_;  // of each column, and their end
};

}  // namespace coppice::crosscat
