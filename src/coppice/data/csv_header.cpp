// Delimiter, header and names of a CSV file.
#include "coppice/data/csv_header.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "coppice/data/kinds/number_text.hpp"

namespace coppice {

std::size_t count_line_ends(std::string_view bytes) {
  auto count = static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), '\n'));
  for (std::size_t at = bytes.find('\r'); at != std::string_view::npos; at = bytes.find('\r', at + 1))
    if (at + 1 == bytes.size() || bytes[at + 1] != '\n') ++count;
  return count;
}

std::string_view csv_content(std::string_view bytes, const std::string& file) {
  if (bytes.starts_with("PK\x03\x04"))
    fail(ErrorCode::bad_data,
         "{}: the file is a zip archive (.npz, .xlsx, ...), not text; export it as .csv or .npy", file);
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  const std::size_t last = bytes.find_last_not_of(" \r\n");
  if (last == std::string_view::npos)
    fail(ErrorCode::bad_data, "{}:1: the file is empty; it needs rows of data", file);
  const std::size_t line_end = bytes.find_first_of("\r\n", last);
  return bytes.substr(0, line_end);
}

namespace {

/// Whether every cell of the first record between semicolons is a number with a decimal comma, or none.
bool has_decimal_commas(std::string_view content) {
  const std::string_view record = content.substr(0, content.find_first_of("\r\n"));
  for (std::size_t at = 0; at <= record.size();) {
    const std::size_t end = std::min(record.find(';', at), record.size());
    const std::string_view cell = text::trim(record.substr(at, end - at));
    text::WrittenNumber number;
    if (!text::is_missing_token(cell) && !parse_written_number(cell, text::DecimalMark::comma, number))
      return false;
    at = end + 1;
  }
  return true;
}

/// The words of a line; blanks inside of quotes belong to the word.
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  for (;;) {
    at = line.find_first_not_of(" \t", at);
    if (at == std::string_view::npos) return words;
    std::size_t end = at;
    for (bool quoted = false; end < line.size() && (quoted || (line[end] != ' ' && line[end] != '\t')); ++end)
      if (line[end] == '"') quoted = !quoted;
    words.push_back(line.substr(at, end - at));
    at = end;
  }
}

/// Calls visit(line, line end) for each line; it may return false to stop.
template <typename Visit>
void for_each_line(std::string_view content, Visit&& visit) {
  while (!content.empty()) {
    const std::size_t end = std::min(content.find_first_of("\r\n"), content.size());
    std::size_t next = end;
    if (next < content.size()) next += content.substr(next).starts_with("\r\n") ? 2 : 1;
    if (!visit(content.substr(0, end), content.substr(end, next - end))) return;
    content.remove_prefix(next);
  }
}

}  // namespace

char find_delimiter(std::string_view content, bool prefer_comma) {
  constexpr std::array<char, 4> kCandidates = {',', '\t', ';', '|'};
  std::array<std::size_t, 4> counts{};
  bool quoted = false;
  for (const char c : content) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '\n' || c == '\r') break;
    for (std::size_t i = 0; i < kCandidates.size(); ++i) counts[i] += c == kCandidates[i] ? 1 : 0;
  }
  if (counts[0] > 0 && counts[2] > 0 && has_decimal_commas(content)) return ';';
  if (prefer_comma && counts[0] > 0) return ',';
  const auto most = std::max_element(counts.begin(), counts.end());
  return *most == 0 ? '\0' : kCandidates[static_cast<std::size_t>(most - counts.begin())];
}

bool is_separated_by_spaces(std::string_view content) {
  constexpr std::size_t kLines = 20;
  std::vector<std::size_t> widths;
  std::size_t words = 0;
  std::size_t numbers = 0;
  for_each_line(content, [&](std::string_view line, std::string_view) {
    const std::vector<std::string_view> cells = words_of(line);
    if (cells.empty()) return true;
    widths.push_back(cells.size());
    if (widths.size() == 1) return true;
    for (const std::string_view cell : cells) {
      double value = 0.0;
      ++words;
      numbers += text::parse_number(cell, value) == text::Parsed::number ? 1 : 0;
    }
    return widths.size() < kLines;
  });
  if (widths.size() < 2 || widths[1] < 2 || 2 * numbers < words) return false;
  const bool alike =
      std::all_of(widths.begin() + 1, widths.end(), [&](std::size_t w) { return w == widths[1]; });
  return alike && (widths[0] == widths[1] || widths[0] + 1 == widths[1]);
}

std::string tabs_for_spaces(std::string_view content) {
  std::string out;
  out.reserve(content.size());
  std::size_t first_width = 0;
  std::size_t line_number = 0;
  for_each_line(content, [&](std::string_view line, std::string_view line_end) {
    const std::vector<std::string_view> cells = words_of(line);
    if (!cells.empty() && line_number == 0) first_width = cells.size();
    if (!cells.empty() && line_number == 1 && cells.size() == first_width + 1) out.insert(0, "row\t");
    line_number += cells.empty() ? 0 : 1;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) out += '\t';
      out += cells[i];
    }
    out += line_end;
    return true;
  });
  return out;
}

FirstRecord take_first_record(CsvCursor& cursor) {
  FirstRecord record;
  std::string scratch;
  std::size_t missing = 0;
  for (;; ++cursor.at, ++cursor.column) {
    const std::string_view content = cursor.take_cell().content(scratch);
    double value = 0.0;
    text::WrittenNumber number;
    if (text::parse_number(content, value) != text::Parsed::not_number ||
        (cursor.delimiter == ';' && parse_written_number(content, text::DecimalMark::comma, number)))
      ++record.numbers;
    else if (text::is_missing_token(content))
      ++missing;
    record.cells.emplace_back(content);
    if (cursor.at_record_end()) break;
  }
  record.numeric = record.numbers > 0 && record.numbers + missing == record.cells.size();
  cursor.column = 0;
  cursor.pass_record_end();
  return record;
}

namespace {

/// Names that programs give to the names of rows: none at all, rownames, "Unnamed: 0".
bool is_name_of_row_names(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames = {"", "rownames", "row.names", "row_names", "Unnamed: 0"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

/// A report begins with its title, not with names of columns.
void refuse_title(const RawTable& table, const FirstRecord& record, std::size_t line) {
  const bool only_first = record.cells.size() > 2 && !record.cells[0].empty() &&
                          std::all_of(record.cells.begin() + 1, record.cells.end(),
                                      [](const std::string& cell) { return cell.empty(); });
  if (table.has_header && only_first)
    fail(ErrorCode::bad_data,
         "{}:{}: only the first of {} cells has a name, '{}'; if it is a title, remove the lines above the "
         "names of the columns, else name the columns",
         table.file, line, record.cells.size(), text::display(record.cells[0]));
}

}  // namespace

bool is_numbered(const FirstRecord& record) {
  const std::size_t first = record.cells[0].empty() ? 1 : 0;
  if (record.cells.size() < first + 1) return false;
  for (std::size_t i = first; i < record.cells.size(); ++i)
    if (record.cells[i] != fmt::format("{}", i - first)) return false;
  return true;
}

bool has_only_whole_numbers(const FirstRecord& record) {
  return std::all_of(record.cells.begin(), record.cells.end(), [](const std::string& cell) {
    return cell.find_first_not_of("0123456789") == std::string::npos;
  });
}

void name_columns(RawTable& table, const FirstRecord& record, std::size_t line) {
  std::unordered_map<std::string_view, std::size_t> seen;
  std::vector<std::string> unnamed;
  refuse_title(table, record, line);
  for (std::size_t i = 0; i < record.cells.size(); ++i) {
    std::string name = record.cells[i];
    if (!table.has_header || name.empty()) name = fmt::format("c{}", i + 1);
    if (table.has_header && record.cells[i].empty()) unnamed.push_back(name);
    refuse_nul(name, [&] { return fmt::format("{}:{}: cell {}", table.file, line, i + 1); });
    if (!text::is_valid_utf8(name))
      fail(ErrorCode::bad_data, "{}:{}: cell {}: the column name '{}' is not UTF-8; save the file as UTF-8",
           table.file, line, i + 1, text::display(name));
    table.columns.push_back({std::move(name), Want::automatic, false, {}, {}});
    table.columns.back().names_rows =
        table.has_header && i == 0 && record.cells.size() > 1 && is_name_of_row_names(record.cells[0]);
  }
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const auto [first, fresh] = seen.emplace(table.columns[i].name, i);
    if (!fresh)
      fail(ErrorCode::bad_data, "{}:{}: column '{}': cells {} and {} have the same name; rename one of them",
           table.file, line, text::display(table.columns[i].name), first->second + 1, i + 1);
  }
  if (!table.has_header) {
    table.notes.push_back(table.columns.size() == 1 ? "no header row: the column is named c1"
                                                    : fmt::format("no header row: columns are named c1..c{}",
                                                                  table.columns.size()));
  } else if (!unnamed.empty()) {
    table.notes.push_back(
        fmt::format("columns without a name in the header are named {}", text::list_names(unnamed)));
  }
  if (table.has_header && 2 * record.numbers > record.cells.size())
    table.notes.push_back(fmt::format(
        "{} of the {} column names are numbers, such as {}: if the first row is data, put a header above it",
        record.numbers, record.cells.size(), text::list_names(std::span(record.cells).last(1))));
}

}  // namespace coppice
