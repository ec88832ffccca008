#include "coppice/out/csv.hpp"

#include <fmt/compile.h>

#include <cmath>
#include <iterator>

#include "coppice/base/error.hpp"
#include "coppice/data/text.hpp"

namespace coppice {

namespace {

constexpr std::size_t kFlushBytes = 1 << 16;

bool needs_quotes(std::string_view text, char separator) {
  if (text.empty()) return false;
  if (text.front() == ' ' || text.front() == '\t' || text.back() == ' ' || text.back() == '\t') return true;
  for (const char c : text) {
    if (c == separator || c == '"' || c == '\n' || c == '\r') return true;
  }
  return false;
}

bool looks_like_formula(std::string_view text) {
  constexpr std::string_view kFormulas = "=+-@\t\r";
  double ignored = 0.0;
  return !text.empty() && kFormulas.find(text.front()) != std::string_view::npos &&
         text::parse_number(text, ignored) == text::Parsed::not_number;
}

}  // namespace

CsvWriter::CsvWriter(std::string* sink, char separator) : text_(sink), separator_(separator) {}
CsvWriter::CsvWriter(std::ostream& sink, char separator) : stream_(&sink), separator_(separator) {}
CsvWriter::CsvWriter(const std::filesystem::path& target, char separator)
    : file_(std::make_unique<PendingFile>(target)), separator_(separator) {}

CsvWriter::~CsvWriter() {
  if (closed_ || file_) return;
  try {
    flush();
  } catch (...) {  // NOLINT(bugprone-empty-catch): a destructor has no way to say so; close() has
  }
}

void CsvWriter::separate() {
  if (row_started_) buffer_.push_back(separator_);
  row_started_ = true;
}

CsvWriter& CsvWriter::cell(std::string_view text) {
  separate();
  std::string changed;
  if (escapes_texts_) text = changed = text::printable(text);
  if (protects_texts_ && looks_like_formula(text)) text = changed = "'" + std::string(text);
  if (!needs_quotes(text, separator_)) {
    buffer_.append(text);
    return *this;
  }
  buffer_.push_back('"');
  for (const char c : text) {
    if (c == '"') buffer_.push_back('"');
    buffer_.push_back(c);
  }
  buffer_.push_back('"');
  return *this;
}

CsvWriter& CsvWriter::cell(double value) {
  separate();
  if (!std::isnan(value)) fmt::format_to(std::back_inserter(buffer_), FMT_COMPILE("{}"), value);
  return *this;
}

CsvWriter& CsvWriter::cell(std::int64_t value) {
  separate();
  fmt::format_to(std::back_inserter(buffer_), FMT_COMPILE("{}"), value);
  return *this;
}

CsvWriter& CsvWriter::cell(std::size_t value) {
  separate();
  fmt::format_to(std::back_inserter(buffer_), FMT_COMPILE("{}"), value);
  return *this;
}

CsvWriter& CsvWriter::end_row() {
  buffer_.push_back('\n');
  row_started_ = false;
  if (buffer_.size() >= kFlushBytes) flush();
  return *this;
}

void CsvWriter::flush() {
  const std::string_view bytes(buffer_.data(), buffer_.size());
  if (text_) {
    text_->append(bytes);
  } else if (file_) {
    file_->write(bytes);
  } else if (!stream_->write(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
    fail(ErrorCode::cannot_write, "cannot write CSV: the output stream failed");
  }
  buffer_.clear();
}

void CsvWriter::close() {
  if (closed_) return;
  flush();
  if (file_) file_->commit();
  if (stream_ && !stream_->flush())
    fail(ErrorCode::cannot_write, "cannot write CSV: the output stream failed");
  closed_ = true;
}

void write_table(CsvWriter& writer, const Table& table) {
  writer.cell("row");
  for (const Column& column : table.columns) writer.cell(column.name);
  writer.end_row();
  for (std::size_t row = 0; row < table.rows(); ++row) {
    writer.cell(table.row_ids[row]);
    for (const Column& column : table.columns) writer.cell(column.text(row));
    writer.end_row();
  }
}

}  // namespace coppice
