// Any bytes as a stored table, once as they are and once as the content of an intact frame, since a checksum
// would otherwise hide the parser behind it.
#include <zstd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "coppice/base/error.hpp"
#include "coppice/data/table_blob.hpp"

namespace {

void read(std::string_view bytes) {
  try {
    const coppice::Table table = coppice::deserialize_table(bytes);
    const std::string stored = coppice::serialize(table);
    if (coppice::serialize(coppice::deserialize_table(stored)) != stored) std::abort();
  } catch (const coppice::Error& error) {
    if (error.code() != coppice::ErrorCode::bad_data) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read({reinterpret_cast<const char*>(data), size});
  std::string framed = "CPTB\x01";
  framed.resize(5 + ZSTD_compressBound(size));
  framed.resize(5 + ZSTD_compress(framed.data() + 5, framed.size() - 5, data, size, 1));
  read(framed);
  return 0;
}
