// Layout: the letters CPTB, a version byte, then one zstd frame with content checksum. Inside, all numbers
// little-endian: u64 rows, u64 columns, the row ids, then per column its name, kind (u8), u64 number of
// levels, the levels, encoding (u8) and the values. A text is a u64 length and its bytes. Encoding 0 is eight
// bytes a value, encoding 1 is one byte a value (the code, 255 for missing).
#include "coppice/data/table_blob.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "coppice/base/error.hpp"
#include "coppice/data/zstd_frame.hpp"

namespace coppice {
namespace {

constexpr std::string_view kMagic = "CPTB";
constexpr char kVersion = 1;
constexpr std::size_t kPrefix = 5;
constexpr unsigned char kMissingCode = 255;
constexpr int kCompressionLevel = 3;

void put_byte(std::string& out, unsigned value) {
  out += static_cast<char>(static_cast<unsigned char>(value));
}

void put_number(std::string& out, std::uint64_t value) {
  char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(value >> (8 * i) & 0xff);
  out.append(bytes, 8);
}

void put_text(std::string& out, std::string_view text) {
  put_number(out, text.size());
  out += text;
}

std::size_t code_count(const Column& column) {
  return column.kind == Kind::category ? column.levels.size() : column.kind == Kind::binary ? 2 : 0;
}

bool is_code(double value, std::size_t codes) {
  return value >= 0.0 && value < static_cast<double>(codes) && value == std::floor(value) &&
         !std::signbit(value);
}

// Whether one byte a value loses nothing, down to the sign of zero and the bits of the missing mark.
bool fits_bytes(const Column& column) {
  const std::size_t codes = code_count(column);
  if (codes == 0 || codes >= kMissingCode) return false;
  const auto missing = std::bit_cast<std::uint64_t>(kMissing);
  return std::all_of(column.values.begin(), column.values.end(), [&](double value) {
    return is_missing(value) ? std::bit_cast<std::uint64_t>(value) == missing : is_code(value, codes);
  });
}

[[noreturn]] void fail_damaged(std::string_view reason) {
  fail(ErrorCode::bad_data, "the stored table is damaged ({}); restore the file from a copy", reason);
}

/// A table that does not fit into the memory cannot have been written here, nor be used.
std::size_t largest_payload() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long bytes = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(bytes)
                                : std::size_t{64} << 30;
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) fail_damaged("it is cut off");
    const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(size));
    rest_.remove_prefix(taken.size());
    return taken;
  }
  unsigned char byte() { return static_cast<unsigned char>(take(1)[0]); }
  std::uint64_t number() {
    std::uint64_t value = 0;
    const std::string_view bytes = take(8);
    for (std::size_t i = 0; i < 8; ++i)
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    return value;
  }
  // A count of things that take at least `least` bytes each, so that it can be trusted for an allocation.
  std::size_t count(std::size_t least) {
    const std::uint64_t value = number();
    if (value > rest_.size() / least) fail_damaged("a count is larger than the data");
    return static_cast<std::size_t>(value);
  }
  std::vector<std::string> texts(std::size_t size) {
    std::vector<std::string> out;
    out.reserve(size);
    for (std::size_t i = 0; i < size; ++i) out.emplace_back(take(number()));
    return out;
  }
  bool done() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

void read_values(Reader& reader, Column& column, std::size_t rows) {
  const unsigned char encoding = reader.byte();
  const std::size_t codes = code_count(column);
  if (encoding > 1) fail_damaged("a column has an unknown encoding");
  if (encoding == 1) {
    const std::string_view bytes = reader.take(rows);
    column.values.reserve(rows);
    for (const char byte : bytes) {
      const auto code = static_cast<unsigned char>(byte);
      if (code != kMissingCode && code >= codes) fail_damaged("a code has no level");
      column.values.push_back(code == kMissingCode ? kMissing : static_cast<double>(code));
    }
    return;
  }
  if (rows > SIZE_MAX / 8) fail_damaged("a count is larger than the data");
  Reader values(reader.take(rows * 8));
  column.values.reserve(rows);
  for (std::size_t row = 0; row < rows; ++row)
    column.values.push_back(std::bit_cast<double>(values.number()));
  const bool coded = column.kind == Kind::category || !column.levels.empty();
  if (!coded) return;
  for (const double value : column.values)
    if (!is_missing(value) && !is_code(value, codes)) fail_damaged("a code has no level");
}

}  // namespace

std::string serialize(const Table& table) {
  std::string payload;
  put_number(payload, table.rows());
  put_number(payload, table.columns.size());
  for (const std::string& id : table.row_ids) put_text(payload, id);
  for (const Column& column : table.columns) {
    if (column.values.size() != table.rows())
      fail(ErrorCode::bug, "column '{}' has {} values in a table of {} rows", column.name,
           column.values.size(), table.rows());
    put_text(payload, column.name);
    put_byte(payload, static_cast<unsigned>(column.kind));
    put_number(payload, column.levels.size());
    for (const std::string& level : column.levels) put_text(payload, level);
    const bool bytes = fits_bytes(column);
    put_byte(payload, bytes ? 1 : 0);
    for (const double value : column.values) {
      if (bytes)
        put_byte(payload, is_missing(value) ? kMissingCode : static_cast<unsigned>(value));
      else
        put_number(payload, std::bit_cast<std::uint64_t>(value));
    }
  }
  return std::string(kMagic) + kVersion + compress(payload, kCompressionLevel);
}

Table deserialize_table(std::string_view bytes) {
  if (bytes.size() < kPrefix || !bytes.starts_with(kMagic)) fail_damaged("it does not begin like one");
  if (bytes[4] != kVersion)
    fail(ErrorCode::bad_data, "the stored table has version {}; this program reads version {}",
         static_cast<int>(static_cast<unsigned char>(bytes[4])), static_cast<int>(kVersion));
  const std::string payload = decompress_frame(bytes.substr(kPrefix), largest_payload(), "the stored table");
  Reader reader(payload);
  Table table;
  const std::size_t rows = reader.count(1);
  const std::size_t columns = reader.count(1);
  constexpr std::size_t kTextBytes = 8;
  if (rows > payload.size() / kTextBytes) fail_damaged("a count is larger than the data");
  table.row_ids = reader.texts(rows);
  for (std::size_t j = 0; j < columns; ++j) {
    Column column;
    column.name = reader.take(reader.number());
    const unsigned char kind = reader.byte();
    if (kind > static_cast<unsigned char>(Kind::category)) fail_damaged("a column has an unknown kind");
    column.kind = static_cast<Kind>(kind);
    column.levels = reader.texts(reader.count(kTextBytes));
    if (column.kind == Kind::binary && !column.levels.empty() && column.levels.size() != 2)
      fail_damaged("a binary column does not have 2 levels");
    if ((column.kind == Kind::real || column.kind == Kind::count) && !column.levels.empty())
      fail_damaged("a column of numbers has levels");
    read_values(reader, column, rows);
    table.columns.push_back(std::move(column));
  }
  if (!reader.done()) fail_damaged("bytes follow its end");
  return table;
}

}  // namespace coppice
