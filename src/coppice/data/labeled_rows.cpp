#include "coppice/data/labeled_rows.hpp"

#include "coppice/base/error.hpp"

namespace coppice {

void present_cells(const SparseRows& rows, std::size_t row, std::vector<std::uint32_t>& columns,
                   std::vector<double>& values) {
  const auto of_row = rows.values_of(row);
  for (std::size_t i = 0; i < of_row.size(); ++i) {
    if (is_missing(of_row[i])) continue;
    columns.push_back(rows.columns_of(row)[i]);
    values.push_back(of_row[i]);
  }
}

SparseRows present_rows(const SparseRows& rows) {
  SparseRows result;
  result.columns = rows.columns;
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    present_cells(rows, row, result.column, result.value);
    result.start.push_back(result.column.size());
  }
  return result;
}

SparseRows sparse_rows(const Table& table) {
  for (const Column& column : table.columns)
    if (column.kind == Kind::category)
      fail(ErrorCode::configuration,
           "column '{}' is a category, and a classifier works with numbers: --drop {}, or give each level a "
           "column of 0 and 1",
           column.name, column.name);
  SparseRows rows;
  rows.columns = table.columns.size();
  // Two passes over columns, which is how a table lies in memory: sizes of rows, then their cells.
  rows.start.assign(table.rows() + 1, 0);
  for (const Column& column : table.columns)
    for (std::size_t row = 0; row < column.values.size(); ++row)
      rows.start[row + 1] += column.values[row] != 0.0;
  for (std::size_t row = 0; row < table.rows(); ++row) rows.start[row + 1] += rows.start[row];
  rows.column.resize(rows.start.back());
  rows.value.resize(rows.start.back());
  std::vector<std::size_t> next(rows.start.begin(), rows.start.end() - 1);
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    const std::vector<double>& values = table.columns[j].values;
    for (std::size_t row = 0; row < values.size(); ++row) {
      if (values[row] == 0.0) continue;
      rows.column[next[row]] = static_cast<std::uint32_t>(j);
      rows.value[next[row]++] = values[row];
    }
  }
  return rows;
}

SparseRows some_rows(const SparseRows& rows, std::span<const std::uint32_t> which) {
  SparseRows result;
  result.columns = rows.columns;
  for (const std::uint32_t row : which) {
    result.column.insert(result.column.end(), rows.columns_of(row).begin(), rows.columns_of(row).end());
    result.value.insert(result.value.end(), rows.values_of(row).begin(), rows.values_of(row).end());
    result.start.push_back(result.column.size());
  }
  return result;
}

SparseRows some_rows(const SparseRows& rows, std::size_t row) {
  const auto which = static_cast<std::uint32_t>(row);
  return some_rows(rows, {&which, 1});
}

LabeledRows some_rows(const LabeledRows& rows, std::span<const std::uint32_t> which) {
  return {some_rows(rows.features, which), rows.kinds, some_rows(rows.labels, which)};
}

LabeledRows labeled_rows(const Table& table, const Table& labels) {
  LabeledRows rows;
  rows.features = sparse_rows(table);
  for (const Column& column : table.columns) rows.kinds.push_back(column.kind);
  rows.labels = sparse_rows(labels);
  if (rows.labels.rows() != rows.features.rows())
    fail(ErrorCode::bug, "{} rows of labels for {} rows", rows.labels.rows(), rows.features.rows());
  return rows;
}

}  // namespace coppice
