// Rows for models that learn labels: features and labels as compressed sparse rows, in which cells of zero
// take no room. Missing cells are kept, as NaN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "coppice/data/table.hpp"

namespace coppice {

struct SparseRows {
  std::size_t columns = 0;
  std::vector<std::size_t> start{0};  // of each row, and the end of the last
  std::vector<std::uint32_t> column;  // increasing within a row
  std::vector<double> value;          // not zero

  std::size_t rows() const { return start.size() - 1; }
  std::span<const std::uint32_t> columns_of(std::size_t row) const {
    return {column.data() + start[row], start[row + 1] - start[row]};
  }
  std::span<const double> values_of(std::size_t row) const {
    return {value.data() + start[row], start[row + 1] - start[row]};
  }
};

/// One of the rows, or some of them in the order given.
SparseRows some_rows(const SparseRows& rows, std::size_t row);
SparseRows some_rows(const SparseRows& rows, std::span<const std::uint32_t> which);

/// The cells of a row that are not missing.
void present_cells(const SparseRows& rows, std::size_t row, std::vector<std::uint32_t>& columns,
                   std::vector<double>& values);
/// All rows without their missing cells.
SparseRows present_rows(const SparseRows& rows);

/// The numbers of the table. Throws Error{configuration} for a column of categories.
SparseRows sparse_rows(const Table& table);

struct LabeledRows {
  SparseRows features;
  std::vector<Kind> kinds;  // of the features
  SparseRows labels;        // 1: the row has it, absent: it does not, NaN: unknown
};

/// Some of the rows, in the order given.
LabeledRows some_rows(const LabeledRows& rows, std::span<const std::uint32_t> which);

/// `labels` has binary columns and the same rows.
LabeledRows labeled_rows(const Table& table, const Table& labels);

}  // namespace coppice
