// Whole-buffer decompression of gzip and zstd, told apart by their first bytes. Growth is bounded, so that a
// small file that claims to hold a huge one is refused instead of filling the memory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace coppice {

inline constexpr std::size_t kLargestExpansion = std::size_t{16} << 30;  // bytes, whatever the input
inline constexpr std::size_t kFreeExpansion = std::size_t{256}
                                              << 20;  // bytes, below which no ratio is checked
inline constexpr std::size_t kLargestRatio = 500;     // output : input above that

enum class Compression { none, gzip, zstd };

Compression detect_compression(std::string_view bytes);
/// The plain bytes (all members or frames joined). Throws Error{bad_data} naming the file if the bytes are
/// corrupt, cut off, or grow beyond the bounds above.
std::string decompress(std::string_view bytes, Compression compression, const std::string& file_name);

}  // namespace coppice
