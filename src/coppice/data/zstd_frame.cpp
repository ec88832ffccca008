#include "coppice/data/zstd_frame.hpp"

#include <zstd.h>

#include <algorithm>
#include <memory>

#include "coppice/base/error.hpp"

namespace coppice {
namespace {

constexpr std::size_t kFirstPiece = std::size_t{1} << 16;

[[noreturn]] void fail_damaged(std::string_view what, std::string_view reason) {
  fail(ErrorCode::bad_data, "{} is damaged ({}); restore the file from a copy", what, reason);
}

}  // namespace

std::string compress(std::string_view bytes, int level) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string frame(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size =
      ZSTD_compress2(context.get(), frame.data(), frame.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(size) != 0) fail(ErrorCode::bug, "compression failed: {}", ZSTD_getErrorName(size));
  frame.resize(size);
  return frame;
}

std::string decompress_frame(std::string_view frame, std::size_t most, std::string_view what) {
  const unsigned long long claimed = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (claimed == ZSTD_CONTENTSIZE_ERROR || claimed == ZSTD_CONTENTSIZE_UNKNOWN)
    fail_damaged(what, "its header is not valid");
  if (claimed > most)
    fail_damaged(what, fmt::format("it claims {} bytes where {} are possible", claimed, most));
  // A run has thousands of small frames, and making a context takes longer than one of them.
  thread_local const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(),
                                                                                  ZSTD_freeDCtx);
  ZSTD_DCtx_reset(context.get(), ZSTD_reset_session_only);
  const auto size = static_cast<std::size_t>(claimed);
  std::string bytes;
  std::size_t used = 0;
  ZSTD_inBuffer input{frame.data(), frame.size(), 0};
  for (;;) {
    if (used == bytes.size()) bytes.resize(std::min(size, std::max(kFirstPiece, 4 * bytes.size())));
    ZSTD_outBuffer output{bytes.data(), bytes.size(), used};
    const std::size_t input_before = input.pos;
    const std::size_t pending = ZSTD_decompressStream(context.get(), &output, &input);
    if (ZSTD_isError(pending) != 0) fail_damaged(what, ZSTD_getErrorName(pending));
    const bool is_stuck = output.pos == used && input.pos == input_before;
    used = output.pos;
    if (pending == 0) break;
    if (is_stuck) fail_damaged(what, used == size ? "wrong size" : "it is cut off");
  }
  if (used != size) fail_damaged(what, "wrong size");
  if (input.pos != input.size) fail_damaged(what, "bytes follow its end");
  return bytes;
}

}  // namespace coppice
