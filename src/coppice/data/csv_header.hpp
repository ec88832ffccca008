// What a CSV parser settles before the first row of data: the delimiter, whether there is a header, and the
// names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "coppice/data/csv_cursor.hpp"
#include "coppice/data/raw_table.hpp"

namespace coppice {

/// Line ends of all three sorts, also if they are mixed.
std::size_t count_line_ends(std::string_view bytes);
/// The bytes without the byte order mark and without blank lines at the end; an error if nothing is left.
std::string_view csv_content(std::string_view bytes, const std::string& file);
/// Comma, tab, semicolon or bar: the most frequent in the first record outside of quotes; NUL if none is
/// there.
char find_delimiter(std::string_view content, bool prefer_comma);
/// Whether the lines have the same number of words between blanks, most of them numbers. The first may be a
/// header, and have one word less if the others begin with a row name.
bool is_separated_by_spaces(std::string_view content);
/// The same lines with one tab where there were blanks; a header of one word less begins with "row".
std::string tabs_for_spaces(std::string_view content);

struct FirstRecord {
  std::vector<std::string> cells;
  bool numeric = false;     // at least one number, and nothing but numbers and missing cells
  std::size_t numbers = 0;  // cells that are numbers
};

/// Reads one record and moves the cursor to the next.
FirstRecord take_first_record(CsvCursor& cursor);
/// Whether the cells are 0, 1, 2 and so on, the first of them perhaps behind an empty one.
bool is_numbered(const FirstRecord& record);
/// Whether no cell has anything but digits.
bool has_only_whole_numbers(const FirstRecord& record);
/// Gives the table its columns, named by the record if table.has_header and c1, c2, ... otherwise.
void name_columns(RawTable& table, const FirstRecord& record, std::size_t line);

/// A NUL cannot be part of a number, so only texts need to be looked at.
template <typename WhereOf>
void refuse_nul(std::string_view content, WhereOf where) {
  if (content.find('\0') != std::string_view::npos)
    fail(ErrorCode::bad_data,
         "{}: value '{}' has a NUL byte, so the file is binary or UTF-16; save it as UTF-8 text", where(),
         text::display(content));
}

}  // namespace coppice
