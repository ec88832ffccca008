// The two passes of the CSV parser over the rows of data.
#include "coppice/data/csv.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "coppice/data/csv_cursor.hpp"
#include "coppice/data/csv_header.hpp"
#include "coppice/data/csv_index.hpp"
#include "coppice/data/number.hpp"

namespace coppice {
namespace {

constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

// Asks for large pages in memory that is not touched yet: for long columns the faults of small ones would
// take a fifth of the reading. It is advice only.
void prefer_large_pages(std::vector<double>& values) {
#if defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t kLargePage = std::uintptr_t{1} << 21;
  const auto begin = reinterpret_cast<std::uintptr_t>(values.data());
  const std::uintptr_t first = (begin + kLargePage - 1) / kLargePage * kLargePage;
  const std::uintptr_t last = (begin + values.capacity() * sizeof(double)) / kLargePage * kLargePage;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#else
  static_cast<void>(values);
#endif
}

[[noreturn]] void fail_short(CsvCursor cursor, std::size_t cells, std::size_t width) {
  cursor.column = cells;
  fail(ErrorCode::bad_data, "{}: the row ends after {} of {} cells; add the missing cells{}",
       cursor.place(cursor.line), cells, width,
       cursor.at_end() ? " (the file may be cut off)" : " or remove the line");
}

[[noreturn]] void fail_long(CsvCursor cursor, std::size_t width) {
  ++cursor.at;
  cursor.column = width;
  std::string scratch;
  const std::string place = cursor.place(cursor.line);
  const std::string value(cursor.take_cell().content(scratch));
  fail(ErrorCode::bad_data,
       "{}: value '{}' is beyond the {} column{}; {}, or quote the cell that contains the delimiter '{}'",
       place, text::display(value), width, width == 1 ? "" : "s",
       width == 1 ? "remove comments or a title above the names of the columns" : "remove it",
       text::display({&cursor.delimiter, 1}));
}

// Calls on_cell(cursor, row, column) for every cell; it must move the cursor behind the cell and may return
// false to stop. The rows must be known to have the right width.
template <typename OnCell>
void for_each_cell(CsvCursor cursor, std::size_t width, OnCell on_cell) {
  for (std::size_t row = 0; !cursor.at_end(); ++row) {
    for (std::size_t column = 0; column < width; ++column) {
      cursor.column = column;
      if (!on_cell(cursor, row, column)) return;
      if (column + 1 < width) ++cursor.at;
    }
    cursor.pass_record_end();
  }
}

class CsvParser {
 public:
  CsvParser(RawTable& table, const CsvCursor& body) : table_(table), body_(body) { body_.table = &table; }

  void run() {
    read_numbers();
    for (std::size_t i = 0; i < table_.columns.size(); ++i)
      if (table_.columns[i].want != Want::nothing && !table_.columns[i].is_text && infinite_[i] != kNever)
        table_.fail_cell(infinite_[i], i,
                         "is infinite; replace it by a finite number or leave the cell empty");
    if (std::any_of(table_.columns.begin(), table_.columns.end(),
                    [](const RawColumn& c) { return c.is_text; }))
      read_texts();
  }

 private:
  // About how many rows there are, from the first lines; never more than one row per `width` bytes, which is
  // the least that a row takes.
  std::size_t likely_rows() const {
    constexpr std::size_t kSample = std::size_t{1} << 20;
    const std::string_view content(body_.at, body_.end);
    const std::string_view sample = content.substr(0, kSample);
    const auto lines = static_cast<double>(count_line_ends(sample) + 1);
    const double share = static_cast<double>(content.size()) / static_cast<double>(sample.size());
    const double slack = content.size() > kSample ? 1.01 : 1.0;
    return std::min(static_cast<std::size_t>(lines * share * slack),
                    content.size() / table_.columns.size() + 1);
  }

  // The first pass. Values are gathered for some rows at a time, so that each column is extended in long runs
  // and no memory is touched before it is needed.
  void read_numbers() {
    const std::size_t width = table_.columns.size();
    const std::size_t expected_rows = likely_rows();
    numeric_.assign(width, 0);
    infinite_.assign(width, kNever);
    for (std::size_t i = 0; i < width; ++i) {
      RawColumn& column = table_.columns[i];
      column.is_text = column.want == Want::text || column.want == Want::identity;
      if (column.want == Want::nothing) continue;
      column.values.reserve(expected_rows);
      prefer_large_pages(column.values);
      numeric_[i] = column.is_text ? 0 : 1;
    }
    block_rows_ = std::clamp<std::size_t>(kBlockCells / width, 1, 1024);
    block_stride_ = block_rows_ + kStagger;
    block_.resize(width * block_stride_);
    unusual_columns_.resize(width);
    CsvCursor cursor = body_;
    CsvIndex index(cursor.end, cursor.delimiter);
    std::size_t row_in_block = 0;
    while (!cursor.at_end()) {
      if (!read_plain_row(cursor, index, row_in_block)) read_any_row(cursor, row_in_block);
      ++table_.rows;
      if (++row_in_block < block_rows_) continue;
      flush(row_in_block);
      row_in_block = 0;
    }
    flush(row_in_block);
  }

  void flush(std::size_t rows) {
    for (std::size_t i = 0; i < table_.columns.size(); ++i) {
      const double* from = block_.data() + i * block_stride_;
      if (numeric_[i] != 0)
        table_.columns[i].values.insert(table_.columns[i].values.end(), from, from + rows);
    }
  }

  // A row of the right width without quotes, or false.
  bool read_plain_row(CsvCursor& cursor, CsvIndex& index, std::size_t row_in_block) {
    const std::size_t width = table_.columns.size();
    const std::uint32_t* marks = index.marks(cursor.at, width);
    if (marks == nullptr) return false;
    const char* const base = index.base();
    const char* const row_end = base + marks[width - 1];
    if (row_end != cursor.end && *row_end != '\n' && *row_end != '\r') return false;
    if (cursor.end - row_end < text::kReadAhead) return false;
    const char* at = cursor.at;
    const char delimiter = cursor.delimiter;
    double* out = block_.data() + row_in_block;
    std::uint32_t* unusual = unusual_columns_.data();
    for (std::size_t column = 0; column < width; ++column, out += block_stride_) {
      const char* const stop = base + marks[column];
      if (*stop != delimiter && stop != row_end) return false;
      if (!text::read_short_number(at, stop, *out)) *unusual++ = static_cast<std::uint32_t>(column);
      at = stop + 1;
    }
    for (const std::uint32_t* column = unusual_columns_.data(); column != unusual; ++column) {
      CsvCursor aside = cursor;
      aside.at = *column == 0 ? cursor.at : base + marks[*column - 1] + 1;
      block_[*column * block_stride_ + row_in_block] = read_unusual(aside, *column);
    }
    cursor.at = row_end;
    cursor.pass_record_end();
    return true;
  }

  void read_any_row(CsvCursor& cursor, std::size_t row_in_block) {
    const std::size_t width = table_.columns.size();
    for (std::size_t column = 0; column < width; ++column) {
      block_[column * block_stride_ + row_in_block] = read_unusual(cursor, column);
      if (column + 1 == width) break;
      if (cursor.at_record_end()) fail_short(cursor, column + 1, width);
      ++cursor.at;
    }
    if (!cursor.at_record_end()) fail_long(cursor, width);
    cursor.pass_record_end();
  }

  // A cell that is not plainly a number: one to skip, missing, quoted, spaced, infinite, or a text.
  [[gnu::noinline]] double read_unusual(CsvCursor& cursor, std::size_t column) {
    cursor.column = column;
    if (numeric_[column] == 0) {
      cursor.skip_cell();
      return kMissing;
    }
    const std::string_view content = cursor.take_cell().content(scratch_);
    if (text::is_missing_token(content) || content == "-" || content == ".") return kMissing;
    double value = 0.0;
    const text::Parsed parsed = text::parse_number(content, value);
    if (parsed == text::Parsed::number) return value;
    if (parsed == text::Parsed::infinite) {
      infinite_[column] = std::min(infinite_[column], table_.rows);
      return kMissing;
    }
    table_.columns[column].is_text = true;
    numeric_[column] = 0;
    return kMissing;
  }

  struct Dictionary {
    std::unordered_map<std::string_view, double> codes;
    std::deque<std::string> owned;  // keys that are not bytes of the file
  };

  void read_texts() {
    std::vector<Dictionary> dictionaries(table_.columns.size());
    for (std::size_t i = 0; i < table_.columns.size(); ++i) {
      RawColumn& column = table_.columns[i];
      if (!column.is_text) continue;
      column.values.resize(table_.rows);
      column.levels = column.declared_levels;
      for (std::size_t code = 0; code < column.declared_levels.size(); ++code)
        dictionaries[i].codes.emplace(column.declared_levels[code], static_cast<double>(code));
    }
    for_each_cell(body_, table_.columns.size(), [&](CsvCursor& cursor, std::size_t row, std::size_t i) {
      RawColumn& column = table_.columns[i];
      if (!column.is_text) {
        cursor.skip_cell();
        return true;
      }
      const std::size_t line = cursor.line;
      const CsvCell cell = cursor.take_cell();
      column.values[row] = code_of(column, dictionaries[i], cell, [&] { return cursor.place(line); });
      return true;
    });
  }

  template <typename WhereOf>
  double code_of(RawColumn& column, Dictionary& dictionary, const CsvCell& cell, WhereOf where) {
    std::string_view content = cell.content(scratch_);
    if (const auto found = dictionary.codes.find(content); found != dictionary.codes.end())
      return found->second;
    const bool is_word = content == text::kNone && column.declared_levels.empty();
    if (content.empty() || (column.want != Want::identity && !is_word && text::is_missing_token(content)))
      return kMissing;
    refuse_nul(content, where);
    if (!text::is_valid_utf8(content))
      fail(ErrorCode::bad_data, "{}: value '{}' is not UTF-8; save the file as UTF-8", where(),
           text::display(content));
    const auto code = static_cast<double>(column.levels.size());
    column.levels.emplace_back(content);
    if (cell.doubled) content = dictionary.owned.emplace_back(content);
    dictionary.codes.emplace(content, code);
    return code;
  }

  static constexpr std::size_t kBlockCells = std::size_t{1} << 15;
  static constexpr std::size_t kStagger =
      8;  // one cache line, so that the cells of a row fall into different sets

  RawTable& table_;
  CsvCursor body_;
  std::vector<double> block_;  // column after column, block_stride_ apart
  std::size_t block_rows_ = 1;
  std::size_t block_stride_ = 1;
  std::vector<std::uint32_t> unusual_columns_;  // of the row being read
  std::vector<unsigned char> numeric_;          // columns in which only numbers were seen so far
  std::vector<std::size_t> infinite_;           // the first row with an infinite value
  std::string scratch_;
};

/// Looks for codes such as 02139 in the first rows of columns of numbers.
void find_leading_zeros(RawTable& table, const CsvCursor& body) {
  constexpr std::size_t kMostCells = std::size_t{1} << 14;
  const std::size_t width = table.columns.size();
  const std::size_t rows = std::min<std::size_t>(64, std::max<std::size_t>(1, kMostCells / width));
  for_each_cell(body, width, [&](CsvCursor& cursor, std::size_t row, std::size_t column) {
    if (row >= rows) return false;
    const std::string_view text = cursor.take_cell().raw;
    if (text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9')
      table.columns[column].leading_zeros = true;
    return true;
  });
}

}  // namespace

namespace {

/// Columns that a program numbered from 0, as it does if they have no names. Without an empty place for the
/// names of rows in front of them, the next row must look different.
bool is_header_of_numbers(const FirstRecord& first, CsvCursor body) {
  constexpr std::size_t kFewColumns = 3;
  if (!is_numbered(first) || body.at_end()) return false;
  if (first.cells.size() < kFewColumns) return false;
  return first.cells[0].empty() || !has_only_whole_numbers(take_first_record(body));
}

/// A file whose columns are separated by runs of blanks, read as one with tabs, which lives as long as the
/// way back to its cells.
RawTable parse_spaced(std::string_view content, const std::string& file, CsvOptions options,
                      const Chooser& choose) {
  const auto tabs = std::make_shared<const std::string>(tabs_for_spaces(content));
  options.delimiter = '\t';
  RawTable table = parse_csv(*tabs, file, options, choose);
  table.notes.emplace_back("columns are separated by blanks");
  table.locate = [inner = std::move(table.locate), tabs](std::size_t i, std::size_t j) {
    return inner(i, j);
  };
  return table;
}

}  // namespace

RawTable parse_csv(std::string_view bytes, const std::string& file, const CsvOptions& options,
                   const Chooser& choose) {
  const std::string_view content = csv_content(bytes, file);
  RawTable table;
  table.file = file;
  CsvCursor cursor{content.data(), content.data() + content.size(), ',', table.file};
  while (cursor.at_blank_line()) {
    while (!cursor.at_record_end()) ++cursor.at;
    cursor.pass_record_end();
  }
  cursor.delimiter = options.delimiter != '\0'
                         ? options.delimiter
                         : find_delimiter({cursor.at, cursor.end}, options.prefer_comma);
  if (cursor.delimiter == '\0' && is_separated_by_spaces({cursor.at, cursor.end}))
    return parse_spaced(content, file, options, choose);
  if (cursor.delimiter == '\0') cursor.delimiter = ',';
  CsvCursor body = cursor;
  const FirstRecord first = take_first_record(body);
  const std::unordered_set<std::string_view> cells(first.cells.begin(), first.cells.end());
  const bool expected = !options.expected_names.empty() &&
                        std::all_of(options.expected_names.begin(), options.expected_names.end(),
                                    [&](const std::string& name) { return cells.contains(name); });
  table.delimiter = cursor.delimiter;
  table.has_header =
      options.header == Header::yes || (options.header == Header::automatic &&
                                        (expected || !first.numeric || is_header_of_numbers(first, body)));
  name_columns(table, first, cursor.line);
  if (!table.has_header) body = cursor;
  if (body.at_end())
    fail(ErrorCode::bad_data, "{}:{}: there is a header but no row of data below it; add rows", file,
         body.line);
  const std::size_t width = table.columns.size();
  table.locate = [body, width, file](std::size_t row, std::size_t column) {
    CsvCursor start = body;
    start.file = file;
    Place place;
    for_each_cell(start, width, [&](CsvCursor& at, std::size_t current_row, std::size_t current_column) {
      const std::size_t line = at.line;
      std::string scratch;
      const CsvCell cell = at.take_cell();
      if (current_row != row || current_column != column) return true;
      place = {fmt::format("{}:{}", file, line), std::string(cell.content(scratch))};
      return false;
    });
    return place;
  };
  choose(table);
  CsvParser(table, body).run();
  find_leading_zeros(table, body);
  return table;
}

}  // namespace coppice
