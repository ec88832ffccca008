// A CSV writer (RFC 4180 with bare line feeds): a field is quoted if it holds a comma, a quote, a line break,
// or leading or trailing white space; numbers have the fewest digits that read back to the same value; NaN is
// an empty field.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include "coppice/data/table.hpp"
#include "coppice/out/pending_file.hpp"

namespace coppice {

class CsvWriter {
 public:
  /// Appends to a string or a stream, which must outlive the writer; or writes a file that appears on
  /// close(). (The string is a pointer so that a path held in a string is never taken for it.)
  explicit CsvWriter(std::string* sink, char separator = ',');
  explicit CsvWriter(std::ostream& sink, char separator = ',');
  explicit CsvWriter(const std::filesystem::path& target, char separator = ',');
  /// Without close(), a file is discarded; a string or a stream receives what was written so far.
  ~CsvWriter();
  CsvWriter(const CsvWriter&) = delete;
  CsvWriter& operator=(const CsvWriter&) = delete;

  /// From here on a text that a spreadsheet would take for a formula (it begins with = + - @ or a tab and is
  /// not a number) gets an apostrophe before it.
  void protect_texts(bool protect) { protects_texts_ = protect; }
  /// From here on texts cannot command the terminal that shows them.
  void escape_texts(bool escape) { escapes_texts_ = escape; }

  CsvWriter& cell(std::string_view text);
  CsvWriter& cell(const char* text) { return cell(std::string_view(text)); }
  CsvWriter& cell(double value);
  CsvWriter& cell(std::int64_t value);
  CsvWriter& cell(std::int32_t value) { return cell(static_cast<std::int64_t>(value)); }
  CsvWriter& cell(std::size_t value);
  template <typename T>
  CsvWriter& cells(std::span<const T> values) {
    for (const T& value : values) cell(value);
    return *this;
  }
  CsvWriter& end_row();
  /// Flushes; gives a file its name. Throws Error{cannot_write} if anything could not be written.
  void close();

 private:
  void separate();
  void flush();

  fmt::memory_buffer buffer_;
  std::string* text_ = nullptr;
  std::ostream* stream_ = nullptr;
  std::unique_ptr<PendingFile> file_;
  char separator_;
  bool protects_texts_ = false;
  bool escapes_texts_ = false;
  bool row_started_ = false;
  bool closed_ = false;
};

/// All cells of a table, with a header and the rows' names before them under the name `row`.
void write_table(CsvWriter& writer, const Table& table);

}  // namespace coppice
