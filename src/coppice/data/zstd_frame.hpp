// One zstd frame with content size and checksum: what run files keep of tables, draws and checkpoints. A
// changed bit is always noticed, and a frame that claims to be larger than it is costs nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace coppice {

/// A frame of the bytes.
std::string compress(std::string_view bytes, int level = 1);

/// The content of a frame, which must be all there is. Memory grows with what is really there, never with
/// what is claimed. Throws Error{bad_data} if it is damaged or holds more than `most` bytes; `what` begins
/// the message.
std::string decompress_frame(std::string_view frame, std::size_t most, std::string_view what);

}  // namespace coppice
