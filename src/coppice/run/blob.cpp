#include "coppice/run/blob.hpp"

#include <zstd.h>

#include <memory>

#include "coppice/base/error.hpp"

namespace coppice {

std::string compress(std::string_view bytes) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, 1);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string frame(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size =
      ZSTD_compress2(context.get(), frame.data(), frame.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(size) != 0) fail(ErrorCode::bug, "compression failed: {}", ZSTD_getErrorName(size));
  frame.resize(size);
  return frame;
}

std::string decompress(std::string_view frame, std::size_t limit) {
  const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > limit)
    fail(ErrorCode::bad_data, "a stored block is damaged (its header is not valid)");
  std::string bytes(size, '\0');
  const std::size_t got = ZSTD_decompress(bytes.data(), bytes.size(), frame.data(), frame.size());
  if (ZSTD_isError(got) != 0 || got != size)
    fail(ErrorCode::bad_data, "a stored block is damaged ({})",
         ZSTD_isError(got) != 0 ? ZSTD_getErrorName(got) : "wrong size");
  return bytes;
}

}  // namespace coppice
