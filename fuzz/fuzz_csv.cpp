// Any bytes as a CSV file: they are read or refused with a message of one line, and what was read is
// consistent.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "coppice/base/error.hpp"
#include "coppice/data/read.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const coppice::Table& table) {
  for (const coppice::Column& column : table.columns) {
    require(column.values.size() == table.rows());
    for (std::size_t row = 0; row < table.rows(); ++row) {
      require(!std::isinf(column.values[row]));
      static_cast<void>(column.text(row));
    }
  }
}

void read(std::string_view bytes, const std::string& name, const coppice::ReadOptions& options) {
  try {
    const coppice::Dataset data = coppice::read_dataset_bytes(bytes, name, options);
    check(data.table);
    check(data.truth);
    require(data.codebook.columns.size() == data.table.columns.size());
    // What the codebook says of a file fits that file.
    coppice::ReadOptions again = options;
    again.codebook = &data.codebook;
    const coppice::Dataset second = coppice::read_dataset_bytes(bytes, name, again);
    require(second.codebook == data.codebook);
    // Without a header new rows are matched by position, so only their consistency is certain.
    check(coppice::read_like_bytes(bytes, name, data.table, options.id));
  } catch (const coppice::Error& error) {
    require(error.code() != coppice::ErrorCode::bug);
    require(std::string_view(error.what()).find('\n') == std::string_view::npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  coppice::ReadOptions options;
  options.header = static_cast<coppice::Header>(data[0] % 3);
  if ((data[0] & 8) != 0) options.id = "id";
  if ((data[0] & 16) != 0) options.truth = {"t"};
  read(bytes, (data[0] & 32) != 0 ? "d.tsv" : (data[0] & 64) != 0 ? "d.csv" : "stdin", options);
  return 0;
}
