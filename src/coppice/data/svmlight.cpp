// Two passes: the first checks every token and finds the size of the table, the second fills it.
#include "coppice/data/svmlight.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <unordered_map>

namespace coppice {
namespace {

// Features are held densely, so an index is a promise of that many columns.
constexpr std::size_t kLargestIndex = 1'000'000;
constexpr std::size_t kFreeCells = std::size_t{1} << 22;
constexpr std::size_t kColumnCost = 32;  // what a column takes beside its cells, counted in cells
constexpr std::size_t kCellsPerByte = 64;

struct Feature {
  std::size_t index;
  double value;
  std::string_view text;  // of the value
};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

std::string_view take_token(std::string_view& rest) {
  while (!rest.empty() && is_space(rest.front())) rest.remove_prefix(1);
  std::size_t length = 0;
  while (length < rest.size() && !is_space(rest[length])) ++length;
  const std::string_view token = rest.substr(0, length);
  rest.remove_prefix(length);
  return token;
}

class LineReader {
 public:
  LineReader(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  // Moves to the next line that is not blank or a comment; false at the end.
  bool next() {
    while (at_ < bytes_.size()) {
      const std::size_t stop = std::min(bytes_.find('\n', at_), bytes_.size());
      std::string_view row = bytes_.substr(at_, stop - at_);
      at_ = stop + 1;
      ++line_;
      row = row.substr(0, row.find('#'));
      rest_ = row;
      if (take_token(row).empty()) continue;
      previous_ = {};
      read_label();
      return true;
    }
    return false;
  }

  bool next_feature(Feature& feature) {
    std::string_view token = take_token(rest_);
    if (token.starts_with("qid:")) token = take_token(rest_);
    if (token.empty()) return false;
    const std::size_t colon = token.find(':');
    const std::string_view index = token.substr(0, colon);
    const auto [stop, error] = std::from_chars(index.data(), index.data() + index.size(), feature.index);
    if (colon == std::string_view::npos || error != std::errc() || stop != index.data() + index.size())
      fail_token(token, "is not index:value; write features such as 3:0.5 after the label");
    if (feature.index > kLargestIndex)
      fail_token(token, fmt::format("has an index above {}, the largest that is read", kLargestIndex));
    if (!previous_.empty() && feature.index <= previous_index_)
      fail_token(token,
                 fmt::format("does not come in increasing order after '{}'; sort the features of the row",
                             text::display(previous_)));
    previous_ = token;
    previous_index_ = feature.index;
    feature.text = token.substr(colon + 1);
    column_ = index;
    switch (text::parse_number(feature.text, feature.value)) {
      case text::Parsed::number:
        break;
      case text::Parsed::infinite:
        fail_value(feature.text, "is infinite; replace it by a finite number");
      case text::Parsed::not_number:
        if (!text::is_missing_token(feature.text) || feature.text.empty())
          fail_value(feature.text, "is not a number; correct it");
        feature.value = kMissing;
    }
    return true;
  }

  std::string_view label() const { return label_; }
  std::size_t line() const { return line_; }

 private:
  void read_label() {
    std::string_view look = rest_;
    const std::string_view token = take_token(look);
    label_ = {};
    if (token.find(':') != std::string_view::npos) return;  // a row without a label
    label_ = token;
    rest_ = look;
    if (!text::is_valid_utf8(label_))
      fail(ErrorCode::bad_data, "{}:{}: column 'label': value '{}' is not UTF-8; save the file as UTF-8",
           file_, line_, text::display(label_));
  }

  [[noreturn]] void fail_token(std::string_view token, const std::string& problem) const {
    fail(ErrorCode::bad_data, "{}:{}: value '{}' {}", file_, line_, text::display(token), problem);
  }
  [[noreturn]] void fail_value(std::string_view value, std::string_view problem) const {
    fail(ErrorCode::bad_data, "{}:{}: column 'f{}': value '{}' {}", file_, line_, text::display(column_),
         text::display(value), problem);
  }

  std::string_view bytes_;
  const std::string& file_;
  std::size_t at_ = 0;
  std::size_t line_ = 0;
  std::string_view rest_;
  std::string_view label_;
  std::string_view previous_;
  std::size_t previous_index_ = 0;
  std::string_view column_;
};

struct Extent {
  std::size_t rows = 0;
  std::size_t largest = 0;
  bool zero_based = false;
  bool any_feature = false;
  bool any_label = false;
  Kind kind = Kind::binary;
};

Extent measure(std::string_view bytes, const std::string& file) {
  Extent extent;
  Feature feature{};
  for (LineReader reader(bytes, file); reader.next(); ++extent.rows) {
    extent.any_label = extent.any_label || !reader.label().empty();
    while (reader.next_feature(feature)) {
      extent.any_feature = true;
      extent.largest = std::max(extent.largest, feature.index);
      extent.zero_based = extent.zero_based || feature.index == 0;
      if (is_missing(feature.value) || feature.value == 0.0 || feature.value == 1.0) continue;
      const bool whole = feature.value >= 0.0 && feature.value == std::floor(feature.value);
      if (!whole)
        extent.kind = Kind::real;
      else if (extent.kind == Kind::binary)
        extent.kind = Kind::count;
    }
  }
  if (extent.rows == 0) fail(ErrorCode::bad_data, "{}:1: the file is empty; it needs rows of data", file);
  if (!extent.any_feature)
    fail(ErrorCode::bad_data, "{}:1: no row has a feature; write features such as 3:0.5 after the label",
         file);
  const std::size_t columns = extent.largest + 1;
  if (extent.rows + kColumnCost > std::max(kFreeCells, kCellsPerByte * bytes.size()) / columns)
    fail(ErrorCode::bad_data,
         "{}: {} rows with features up to index {} are too sparse to hold as a table; keep fewer features",
         file, extent.rows, extent.largest);
  return extent;
}

Place locate_feature(std::string_view bytes, const std::string& file, std::size_t row, std::size_t index,
                     bool label) {
  LineReader reader(bytes, file);
  for (std::size_t i = 0; i <= row; ++i) reader.next();
  Place place{fmt::format("{}:{}", file, reader.line()), label ? std::string(reader.label()) : "0"};
  Feature feature{};
  while (!label && reader.next_feature(feature))
    if (feature.index == index) place.text = feature.text;
  return place;
}

}  // namespace

RawTable parse_svmlight(std::string_view bytes, const std::string& file) {
  const std::size_t nul = bytes.find('\0');
  if (nul != std::string_view::npos)
    fail(ErrorCode::bad_data,
         "{}:{}: the file has a NUL byte, so it is binary or UTF-16; save it as UTF-8 text", file,
         std::count(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(nul), '\n') + 1);
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  const Extent extent = measure(bytes, file);
  const std::size_t base = extent.zero_based ? 0 : 1;
  const std::size_t columns = extent.largest + 1 - base;
  RawTable table;
  table.file = file;
  table.rows = extent.rows;
  table.absent_is_zero = true;
  table.kind = extent.kind;
  table.columns.resize(columns);
  for (std::size_t j = 0; j < columns; ++j) {
    table.columns[j].name = fmt::format("f{}", j + base);
    table.columns[j].values.assign(extent.rows, 0.0);
  }
  RawColumn label{"label", Want::text, true, std::vector<double>(extent.rows, kMissing), {}};
  std::unordered_map<std::string_view, double> codes;
  Feature feature{};
  LineReader reader(bytes, file);
  for (std::size_t row = 0; reader.next(); ++row) {
    while (reader.next_feature(feature)) table.columns[feature.index - base].values[row] = feature.value;
    if (reader.label().empty()) continue;
    const auto [code, fresh] = codes.emplace(reader.label(), static_cast<double>(label.levels.size()));
    if (fresh) label.levels.emplace_back(reader.label());
    label.values[row] = code->second;
  }
  if (extent.any_label) {
    table.label = table.columns.size();
    table.columns.push_back(std::move(label));
  }
  table.locate = [bytes, file, base, label_column = table.label](std::size_t row, std::size_t column) {
    return locate_feature(bytes, file, row, column + base, label_column == column);
  };
  return table;
}

}  // namespace coppice
