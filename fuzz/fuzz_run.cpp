// Any bytes as a run file, and as the payload of its blobs: opened and read whole, or refused with a code of
// ours. The checksums would hide the decoders from the fuzzer, so these are also given intact frames around
// the bytes.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "coppice/base/error.hpp"
#include "coppice/data/zstd_frame.hpp"
#include "coppice/run/block_codec.hpp"
#include "coppice/run/saved_run.hpp"

namespace {

template <typename Read>
void expect_value_or_error(Read&& read) {
  try {
    read();
  } catch (const coppice::Error& error) {
    if (error.code() == coppice::ErrorCode::bug) std::abort();
  }
}

/// The file that is opened, gone at the end.
struct Scratch {
  std::string path =
      (std::filesystem::temp_directory_path() / ("coppice-fuzz-" + std::to_string(::getpid()))).string();
  ~Scratch() {
    std::error_code ignored;
    for (const char* suffix : {"", "-wal", "-shm", "-journal"})
      std::filesystem::remove(path + suffix, ignored);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  static const Scratch scratch;
  std::ofstream(scratch.path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  expect_value_or_error([&] {
    const coppice::SavedRun run(scratch.path);
    run.for_each_draw(0, [](const coppice::SavedDraw&) {});
  });
  const std::string frame = coppice::compress(bytes);
  coppice::DrawBlock block;
  block.count = size > 32 ? data[24] : 1;
  expect_value_or_error([&] { coppice::decode_traces(frame, block); });
  expect_value_or_error([&] { coppice::decode_labels(frame, block); });
  expect_value_or_error([&] { coppice::decode_payloads(frame, block); });
  expect_value_or_error([&] { coppice::decode_checkpoint(0, 0, frame); });
  expect_value_or_error([&] { coppice::config_from_json(bytes); });
  expect_value_or_error([&] { coppice::effective_from_json(bytes, 3); });
  return 0;
}
