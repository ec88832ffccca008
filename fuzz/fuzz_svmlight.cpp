// Any bytes as a svmlight file: read to a consistent table, or refused with a message of one line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "coppice/base/error.hpp"
#include "coppice/data/read.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const coppice::Dataset dataset = coppice::read_dataset_bytes(bytes, "d.svmlight", {});
    for (const coppice::Column& column : dataset.table.columns)
      if (column.values.size() != dataset.table.rows()) std::abort();
    const coppice::Table again = coppice::read_like_bytes(bytes, "d.svmlight", dataset.table, "");
    if (again.rows() != dataset.table.rows()) std::abort();
  } catch (const coppice::Error& error) {
    if (error.code() == coppice::ErrorCode::bug) std::abort();
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) std::abort();
  }
  return 0;
}
