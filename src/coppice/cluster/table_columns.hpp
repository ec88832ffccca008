// The columns of a table one by one: each with its own family, its cells and the log marginals of single
// cells. Columns are independent given the clusters, so what a set of columns says of some rows is the sum of
// what they say by themselves.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "coppice/base/aligned.hpp"
#include "coppice/family/family.hpp"
#include "coppice/family/rows.hpp"
#include "coppice/family/tied_copies.hpp"
#include "coppice/shape/dendrogram.hpp"

namespace coppice {

class TableColumns {
 public:
  /// Family and rows must outlive it. Throws Error{configuration} if columns depend on each other given the
  /// cluster; `model` is who asks.
  TableColumns(const Family& family, const Rows& rows, std::string_view model);

  std::size_t count() const { return columns_.size(); }
  std::size_t rows() const { return rows_->size(); }
  const Family& family(std::size_t column) const { return *columns_[column].family; }
  const double* cell(std::size_t column, std::size_t row) const {
    return columns_[column].cells.data() + row;
  }
  /// Log marginal of each row's cell by itself, with its copies.
  std::span<const double> alone(std::size_t column) const { return columns_[column].alone; }

  /// Buffers of log_marginals, one for each thread.
  struct Workspace {
    std::vector<MadeNode> nodes;
    std::vector<double> stats;
    AlignedVector values;
  };
  /// Makes log_marginals ready for a tree, which must outlive its questions.
  static void take_tree(const Dendrogram& tree, Workspace& workspace);
  /// out[node - rows()] = log marginal of the column in the rows of the node, for every inner node of the
  /// tree.
  void log_marginals(std::size_t column, Workspace& workspace, double* out) const;

  /// Family and cells of some columns (ascending), with the copies of rows that have them.
  std::unique_ptr<Family> family_of(std::span<const std::size_t> columns) const {
    return family_of_cells(*family_, *rows_, columns);
  }
  Rows rows_of(std::span<const std::size_t> columns) const { return cells_of_rows(*rows_, columns); }
  /// Rows, and how many copies of each there are.
  const Rows& table() const { return *rows_; }

  /// The cells of the table are other ones now.
  void data_changed();
  static std::size_t bytes(const Family& family, std::size_t rows);

 private:
  struct Column {
    std::unique_ptr<Family> family;
    std::vector<double> cells, stats, alone;  // stats and alone: of each row as a singleton
    AlignedVector empty;                      // no rows, as fill_union writes it
  };
  const Family* family_;
  const Rows* rows_;
  std::vector<Column> columns_;
};

}  // namespace coppice
