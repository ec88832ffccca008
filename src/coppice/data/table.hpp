// A table of typed columns with names, row names and missing cells: what every reader produces and every
// family reads. Values are doubles in all kinds; NaN marks a missing cell and nothing else (readers reject
// infinities).
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coppice/data/kinds/date_text.hpp"

namespace coppice {

/// What the numbers of a column are.
enum class Kind { real, count, binary, category };

/// The word for a kind, as in a codebook.
std::string_view kind_name(Kind kind);
/// The kind of that name. Throws Error{configuration} unless it is real, count, binary or category.
Kind kind_from_name(std::string_view name);

/// The value of a missing cell.
inline constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
/// Whether the cell is missing.
inline bool is_missing(double cell) { return std::isnan(cell); }

/// One column: a number for each row.
struct Column {
  std::string name;            // unique within the table
  Kind kind = Kind::real;      // what the numbers are
  std::vector<double> values;  // binary: 0 or 1; category: index into levels; NaN: missing
  std::vector<std::string>
      levels;  // category: all levels; binary: the texts of 0 and 1 if they were not digits
  std::optional<text::DateUnit> dates = {};  // what the numbers of dates and times count

  /// Whether any cell is missing.
  bool has_missing() const;
  /// The cell as a user wrote it: level name, date, shortest round-trip number, or empty for a missing cell.
  std::string text(std::size_t row) const;
  /// A number of the column (not of its levels) as such a text: also one that is between its cells.
  std::string number_text(double value) const;
};

/// Columns of equal length, with names for columns and rows.
struct Table {
  std::vector<Column> columns;       // all of the same length
  std::vector<std::string> row_ids;  // one per row, never empty once read

  /// Number of rows.
  std::size_t rows() const { return row_ids.size(); }
  /// The column of that name; nullptr if there is none.
  const Column* find(std::string_view name) const;
};

/// Adds the rows of `more`, whose columns have the same names and kinds in the same order. New levels are
/// added to those of the column.
void append_rows(Table& table, const Table& more);

}  // namespace coppice
