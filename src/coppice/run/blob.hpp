// Compressed, checksummed bytes: what the run file keeps of draws and checkpoints. A changed bit is always
// noticed.
#pragma once

#include <string>
#include <string_view>

namespace coppice {

/// A zstd frame with content size and checksum.
std::string compress(std::string_view bytes);
/// Throws Error{bad_data} if the frame is damaged or larger than `limit` bytes.
std::string decompress(std::string_view frame, std::size_t limit);

}  // namespace coppice
