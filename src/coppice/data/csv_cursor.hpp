// The tokeniser under the CSV parser: walks cell by cell over bytes that it never copies, and counts lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "coppice/base/error.hpp"
#include "coppice/data/raw_table.hpp"
#include "coppice/data/text.hpp"

namespace coppice {

struct CsvCell {
  std::string_view raw;  // between the quotes, or trimmed if there are none
  bool quoted = false;
  bool doubled = false;  // has doubled quotes that content() must undo

  /// The text of the cell; `scratch` holds it if it differs from the bytes in the file.
  std::string_view content(std::string& scratch) const {
    if (!doubled) return raw;
    scratch.clear();
    for (std::size_t i = 0; i < raw.size(); ++i) {
      scratch += raw[i];
      if (raw[i] == '"') ++i;
    }
    return scratch;
  }
};

struct CsvCursor {
  const char* at;
  const char* end;
  char delimiter;
  std::string_view file;
  std::size_t line = 1;
  std::size_t column = 0;           // of the cell being read, for messages
  const RawTable* table = nullptr;  // for the names of columns; nullptr while the header is read

  bool at_end() const { return at == end; }
  bool at_cell_end() const { return at == end || *at == delimiter || *at == '\n' || *at == '\r'; }
  bool at_record_end() const { return at == end || *at == '\n' || *at == '\r'; }

  /// Steps over one line end (LF, CRLF or CR), if there is one.
  void pass_record_end() {
    if (at == end) return;
    const bool carriage_return = *at == '\r';
    ++at;
    if (carriage_return && at != end && *at == '\n') ++at;
    ++line;
  }

  /// "FILE:LINE: column 'NAME'", or "FILE:LINE: cell N" while there are no names.
  std::string place(std::size_t at_line) const {
    if (table == nullptr || column >= table->columns.size())
      return fmt::format("{}:{}: cell {}", file, at_line, column + 1);
    return fmt::format("{}:{}: column '{}'", file, at_line, text::display(table->columns[column].name));
  }

  /// A line of nothing but spaces.
  bool at_blank_line() const {
    const char* look = at;
    while (look != end && *look == ' ' && delimiter != ' ') ++look;
    return look == end || *look == '\n' || *look == '\r';
  }

  void skip_cell() {
    if (at != end && (*at == '"' || *at == ' ' || *at == '\t')) {
      take_cell();
      return;
    }
    while (!at_cell_end()) ++at;
  }

  /// Reads one cell and stops on the delimiter or line end behind it.
  CsvCell take_cell() {
    const char* begin = at;
    while (at != end && *at != delimiter && (*at == ' ' || *at == '\t')) ++at;
    if (at != end && *at == '"') return take_quoted();
    while (!at_cell_end()) ++at;
    return {text::trim({begin, at}), false, false};
  }

 private:
  CsvCell take_quoted() {
    const std::size_t opening_line = line;
    const char* opening = at++;
    CsvCell cell{{}, true, false};
    for (;; ++at) {
      if (at == end)
        fail(ErrorCode::bad_data, "{}: value '{}' opens a quote that is never closed; add the closing quote",
             place(opening_line), text::display({opening, end}, 30));
      if (*at == '"') {
        if (at + 1 == end || at[1] != '"') break;
        cell.doubled = true;
        ++at;
      } else if (*at == '\n' || (*at == '\r' && (at + 1 == end || at[1] != '\n'))) {
        ++line;
      }
    }
    cell.raw = {opening + 1, at};
    ++at;
    while (at != end && *at != delimiter && (*at == ' ' || *at == '\t')) ++at;
    if (!at_cell_end()) {
      const char* stop = at;
      while (stop != end && *stop != delimiter && *stop != '\n' && *stop != '\r') ++stop;
      fail(ErrorCode::bad_data,
           "{}: value '{}' has text after its closing quote; double the quotes inside the cell", place(line),
           text::display({opening, stop}, 30));
    }
    return cell;
  }
};

}  // namespace coppice
