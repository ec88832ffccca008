// Streams through zlib and libzstd into one growing string, with the bound checked before every growth.
#include "coppice/data/decompress.hpp"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "coppice/base/error.hpp"

namespace coppice {
namespace {

constexpr std::size_t kFirstBlock = std::size_t{1} << 16;

[[noreturn]] void fail_corrupt(const std::string& file_name, std::string_view format,
                               std::string_view reason) {
  fail(ErrorCode::bad_data, "{}: the {} data are damaged ({}); fetch or compress the file again", file_name,
       format, reason);
}

// Makes room for at least one more byte after `used`.
void grow(std::string& out, std::size_t used, std::size_t input_size, const std::string& file_name) {
  if (used < out.size()) return;
  const std::size_t by_ratio =
      input_size > kLargestExpansion / kLargestRatio ? kLargestExpansion : input_size * kLargestRatio;
  const std::size_t bound = std::min(kLargestExpansion, std::max(kFreeExpansion, by_ratio));
  if (used >= bound)
    fail(ErrorCode::bad_data,
         "{}: {} compressed bytes expand to more than {} bytes, which is refused; decompress the file first "
         "if it is "
         "meant to be so large",
         file_name, input_size, bound);
  out.resize(std::min(bound, std::max(kFirstBlock, 2 * out.size())));
}

std::string inflate_gzip(std::string_view bytes, const std::string& file_name) {
  z_stream stream{};
  constexpr int kGzipOnly = 16 + MAX_WBITS;
  if (inflateInit2(&stream, kGzipOnly) != Z_OK) fail(ErrorCode::bug, "zlib cannot start");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, inflateEnd);
  constexpr std::size_t kMostAtOnce = std::numeric_limits<uInt>::max();
  std::string out;
  std::size_t used = 0;
  std::size_t consumed = 0;
  bool inside_member = true;
  while (inside_member || consumed < bytes.size()) {
    if (!inside_member) {
      // Some writers pad the last member with zeros up to a block; anything else must be another member.
      if (bytes.find_first_not_of('\0', consumed) == std::string_view::npos) break;
      inflateReset(&stream);
      inside_member = true;
    }
    grow(out, used, bytes.size(), file_name);
    const std::size_t input = std::min(bytes.size() - consumed, kMostAtOnce);
    const std::size_t room = std::min(out.size() - used, kMostAtOnce);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + consumed));
    stream.avail_in = static_cast<uInt>(input);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
    stream.avail_out = static_cast<uInt>(room);
    const int status = inflate(&stream, Z_NO_FLUSH);
    consumed += input - stream.avail_in;
    used += room - stream.avail_out;
    if (status == Z_STREAM_END)
      inside_member = false;
    else if (status == Z_BUF_ERROR || (status == Z_OK && consumed == bytes.size() && stream.avail_out > 0))
      fail_corrupt(file_name, "gzip", "the end is missing");
    else if (status != Z_OK)
      fail_corrupt(file_name, "gzip", stream.msg != nullptr ? stream.msg : "unreadable");
  }
  out.resize(used);
  return out;
}

std::string inflate_zstd(std::string_view bytes, const std::string& file_name) {
  const std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  if (context == nullptr) fail(ErrorCode::bug, "zstd cannot start");
  std::string out;
  ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
  std::size_t used = 0;
  std::size_t pending = 1;  // 0 at the end of a frame
  while (pending != 0 || input.pos < input.size) {
    grow(out, used, bytes.size(), file_name);
    ZSTD_outBuffer output{out.data(), out.size(), used};
    const std::size_t input_before = input.pos;
    pending = ZSTD_decompressStream(context.get(), &output, &input);
    if (ZSTD_isError(pending)) fail_corrupt(file_name, "zstd", ZSTD_getErrorName(pending));
    const bool stuck = output.pos == used && input.pos == input_before;
    used = output.pos;
    if (pending != 0 && stuck && output.pos < output.size)
      fail_corrupt(file_name, "zstd", "the end is missing");
  }
  out.resize(used);
  return out;
}

}  // namespace

Compression detect_compression(std::string_view bytes) {
  if (bytes.starts_with("\x1f\x8b")) return Compression::gzip;
  if (bytes.starts_with("\x28\xb5\x2f\xfd")) return Compression::zstd;
  return Compression::none;
}

std::string decompress(std::string_view bytes, Compression compression, const std::string& file_name) {
  switch (compression) {
    case Compression::gzip:
      return inflate_gzip(bytes, file_name);
    case Compression::zstd:
      return inflate_zstd(bytes, file_name);
    case Compression::none:
      break;
  }
  return std::string(bytes);
}

}  // namespace coppice
