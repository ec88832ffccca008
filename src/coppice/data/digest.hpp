// The fingerprint by which a run recognizes the data it was fitted to.
#pragma once

#include <string>
#include <string_view>

namespace coppice {

/// SHA-256 of the bytes: 32 bytes.
std::string sha256_bytes(std::string_view bytes);
/// The same as 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace coppice
