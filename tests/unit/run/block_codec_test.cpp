// Blobs that are intact, so that no checksum refuses them, and say what cannot be.
#include "coppice/run/block_codec.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "coppice/base/error.hpp"
#include "coppice/data/zstd_frame.hpp"
#include "support/small_run.hpp"

namespace coppice::test {
namespace {

/// A frame around the address of chain 0, block 0, draw 0, and nothing else.
std::string blob_of(std::uint64_t count, std::uint64_t width) {
  const std::uint64_t address[5] = {0, 0, 0, count, width};
  return compress({reinterpret_cast<const char*>(address), sizeof address});
}

template <typename Action>
void expect_bad_data(Action&& action) {
  try {
    action();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_data) << error.what();
  }
}

TEST(BlockCodec, CountsWhoseBytesWrapAroundAreRefused) {
  for (unsigned bits = 37; bits < 64; ++bits) {
    DrawBlock block;
    block.count = std::size_t{1} << bits;
    for (const std::uint64_t width : {0U, 1U, 2U, 4U, 4096U}) {
      SCOPED_TRACE(fmt::format("count 2^{}, width {}", bits, width));
      expect_bad_data([&] { decode_traces(blob_of(block.count, width), block); });
      expect_bad_data([&] { decode_labels(blob_of(block.count, width), block); });
    }
  }
}

TEST(BlockCodec, LabelsBeyondTheRowsAreRefused) {
  const ScratchFolder folder;
  const std::string path = folder.file("a.coppice");
  for (const Label label : {9, 255, 300, 70000, -1}) {
    SCOPED_TRACE(label);
    std::filesystem::remove(path);
    RunFile file = RunFile::create(path, small_contents("nrmm", {}, 9, 1, 0, 1));
    DrawBlock block{0, 0, 0, 1, {}, Labels(9, 0)};
    block.traces.resize(set_up(file)->traces.size(), 1.0);
    block.labels[4] = label;
    file.commit(std::vector<DrawBlock>{block}, {}, {});
    file.finish();
    const SavedRun run(path);
    expect_bad_data([&] { static_cast<void>(run.labels(1)); });
  }
}

}  // namespace
}  // namespace coppice::test
