// The header of an .npy file is a Python dictionary literal of a fixed form; the little parser here accepts
// exactly the keys and values that NumPy writes and nothing more.
#include "coppice/data/npy.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

namespace coppice {
namespace {

static_assert(std::endian::native == std::endian::little, "the readers assume a little-endian machine");

struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::size_t> shape;
  std::size_t data_offset = 0;
};

[[noreturn]] void fail_npy(const std::string& file, const std::string& problem) {
  fail(ErrorCode::bad_data, "{}: {}; write it again with numpy.save", file, problem);
}

class DictionaryParser {
 public:
  DictionaryParser(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  void read(NpyHeader& header) {
    bool descr = false;
    bool order = false;
    bool shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        if (peek() != '\'' && peek() != '"')
          fail(ErrorCode::bad_data, "{}: the array has named fields; save its columns as one plain 2-D array",
               file_);
        header.descr = quoted();
        descr = true;
      } else if (key == "fortran_order") {
        header.fortran_order = boolean();
        order = true;
      } else if (key == "shape") {
        header.shape = tuple();
        shape = true;
      } else {
        bad();
      }
      if (!accept(',') && peek() != '}') bad();
    }
    if (!descr || !order || !shape || peek() != '\0') bad();
  }

 private:
  [[noreturn]] void bad() const {
    fail_npy(file_, fmt::format("the header '{}' is not that of an .npy file", text::display(text_, 80)));
  }

  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool accept(char c) {
    if (peek() != c || c == '\0') return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) bad();
  }

  std::string quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') bad();
    const std::size_t close = text_.find(quote, at_ + 1);
    if (close == std::string_view::npos) bad();
    std::string out(text_.substr(at_ + 1, close - at_ - 1));
    at_ = close + 1;
    return out;
  }

  bool boolean() {
    peek();
    const std::string_view rest = text_.substr(std::min(at_, text_.size()));
    const bool yes = rest.starts_with("True");
    if (!yes && !rest.starts_with("False")) bad();
    at_ += yes ? 4 : 5;
    return yes;
  }

  std::vector<std::size_t> tuple() {
    std::vector<std::size_t> sizes;
    expect('(');
    while (!accept(')')) {
      peek();
      std::size_t size = 0;
      const char* begin = text_.data() + at_;
      const auto [stop, error] = std::from_chars(begin, text_.data() + text_.size(), size);
      if (error != std::errc()) bad();
      at_ += static_cast<std::size_t>(stop - begin);
      sizes.push_back(size);
      if (!accept(',') && peek() != ')') bad();
    }
    return sizes;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
};

std::size_t little_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

NpyHeader read_header(std::string_view bytes, const std::string& file) {
  if (!bytes.starts_with(kNpyMagic) || bytes.size() < 10) fail_npy(file, "it is not an .npy file");
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3)
    fail_npy(file, fmt::format("version {} of .npy is unknown (1, 2 and 3 are read)", version));
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t start = 8 + length_bytes;
  if (bytes.size() < start) fail_npy(file, "the header is cut off");
  const std::size_t length = little_endian(bytes.substr(8, length_bytes));
  if (length > bytes.size() - start) fail_npy(file, "the header is cut off");
  NpyHeader header;
  DictionaryParser(bytes.substr(start, length), file).read(header);
  header.data_offset = start + length;
  return header;
}

template <typename T>
double load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return static_cast<double>(value);
}

using Loader = double (*)(const char*);
struct ElementType {
  std::string_view code;  // without the byte order
  std::size_t size;
  Loader load;
};
constexpr ElementType kElementTypes[] = {
    {"f8", 8, load<double>},        {"f4", 4, load<float>},         {"i1", 1, load<std::int8_t>},
    {"i2", 2, load<std::int16_t>},  {"i4", 4, load<std::int32_t>},  {"i8", 8, load<std::int64_t>},
    {"u1", 1, load<std::uint8_t>},  {"u2", 2, load<std::uint16_t>}, {"u4", 4, load<std::uint32_t>},
    {"u8", 8, load<std::uint64_t>}, {"b1", 1, load<std::uint8_t>},
};

const ElementType& element_type(const std::string& descr, const std::string& file) {
  for (const ElementType& type : kElementTypes) {
    if (descr.size() != 3 || std::string_view(descr).substr(1) != type.code) continue;
    if (descr[0] == '<' || descr[0] == '=' || (descr[0] == '|' && type.size == 1)) return type;
  }
  fail(ErrorCode::bad_data,
       "{}: arrays of type '{}' are not read (f4, f8, i1..i8, u1..u8 and b1, little-endian, are); convert "
       "with "
       "array.astype('<f8')",
       file, text::display(descr));
}

}  // namespace

RawTable parse_npy(std::string_view bytes, const std::string& file) {
  const NpyHeader header = read_header(bytes, file);
  const ElementType& type = element_type(header.descr, file);
  if (header.shape.empty() || header.shape.size() > 2)
    fail(ErrorCode::bad_data, "{}: the array has {} dimensions; save a 2-D array of rows and columns", file,
         header.shape.size());
  const std::size_t rows = header.shape[0];
  const std::size_t columns = header.shape.size() == 2 ? header.shape[1] : 1;
  if (rows == 0 || columns == 0)
    fail(ErrorCode::bad_data, "{}: the array has {} rows and {} columns; it needs at least one of each", file,
         rows, columns);
  const std::string_view data = bytes.substr(header.data_offset);
  const std::size_t cells = data.size() / type.size;
  if (data.size() % type.size != 0 || cells % columns != 0 || cells / columns != rows)
    fail_npy(file, fmt::format("the header promises {} x {} cells of {} bytes but {} bytes follow", rows,
                               columns, type.size, data.size()));

  RawTable table;
  table.file = file;
  table.rows = rows;
  const std::size_t row_step = type.size * (header.fortran_order ? 1 : columns);
  const std::size_t column_step = type.size * (header.fortran_order ? rows : 1);
  const auto cell = [data, row_step, column_step, load = type.load](std::size_t row, std::size_t column) {
    return load(data.data() + row * row_step + column * column_step);
  };
  table.locate = [cell, file](std::size_t row, std::size_t column) {
    return Place{fmt::format("{}: row {}", file, row + 1), fmt::format("{}", cell(row, column))};
  };
  table.columns.resize(columns);
  for (std::size_t j = 0; j < columns; ++j) {
    table.columns[j].name = fmt::format("c{}", j + 1);
    table.columns[j].values.resize(rows);
  }
  // Walk in the order of the file; the columns are the faster index unless it is in Fortran order.
  const std::size_t outer = header.fortran_order ? columns : rows;
  const std::size_t inner = header.fortran_order ? rows : columns;
  for (std::size_t i = 0; i < outer; ++i) {
    for (std::size_t j = 0; j < inner; ++j) {
      const std::size_t row = header.fortran_order ? j : i;
      const std::size_t column = header.fortran_order ? i : j;
      const double value = cell(row, column);
      if (std::isinf(value))
        table.fail_cell(row, column, "is infinite; replace it by a finite number or by NaN for missing");
      table.columns[column].values[row] = value;
    }
  }
  return table;
}

}  // namespace coppice
