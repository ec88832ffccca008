// What the format readers (CSV, NPY, svmlight) hand over before kinds are decided: columns of numbers or of
// coded texts, and a way back from a cell to its place in the file, for messages.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coppice/base/error.hpp"
#include "coppice/data/table.hpp"
#include "coppice/data/text.hpp"

namespace coppice {

/// Whether a file begins with the names of its columns.
enum class Header { yes, no, automatic };

/// What the caller needs a column for; it decides how its cells are read.
enum class Want {
  automatic,  // numbers if every cell is one, otherwise texts
  number,     // numbers; cells in other spellings come as texts, to be understood or refused
  text,       // texts, whatever they look like
  identity,   // texts of which only the empty one is missing: "NA" may name a row
  nothing,    // skipped
};

struct RawColumn {
  std::string name;
  Want want = Want::automatic;
  bool is_text = false;
  std::vector<double> values;                     // the number, or the index into levels; NaN: missing
  std::vector<std::string> levels;                // texts in the order in which they first occur
  std::vector<std::string> declared_levels = {};  // known beforehand; they win over the missing tokens
  bool leading_zeros = false;                     // of numbers: some are written like 02139, as codes are
  bool names_rows = false;                        // the first column, in a place where row names are written
};

struct Place {
  std::string where;  // "FILE:LINE" or "FILE: row N"
  std::string text;   // the cell as written
};

struct RawTable {
  std::string file;
  std::vector<RawColumn> columns;
  std::size_t rows = 0;
  bool has_header = false;
  char delimiter = '\0';             // of a text file
  bool absent_is_zero = false;       // sparse formats: a column beyond the last one is all zero
  std::optional<Kind> kind;          // decided for all columns at once
  std::optional<std::size_t> label;  // the column that is a label by the format's nature
  std::vector<std::string> notes;
  std::function<Place(std::size_t row, std::size_t column)> locate;

  /// Throws Error{bad_data}: WHERE: column 'NAME': value 'TEXT' PROBLEM.
  [[noreturn]] void fail_cell(std::size_t row, std::size_t column, std::string_view problem) const {
    const Place place = locate(row, column);
    fail(ErrorCode::bad_data, "{}: column '{}': value '{}' {}", place.where,
         text::display(columns[column].name), text::display(place.text), problem);
  }
};

}  // namespace coppice
