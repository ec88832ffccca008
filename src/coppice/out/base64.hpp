// Base64 (RFC 4648) for bytes inside of text formats.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace coppice {

std::string base64(std::string_view bytes);

/// The little-endian bytes of numbers, as a typed array of JavaScript reads them.
template <typename Number>
std::string base64_of(std::span<const Number> values) {
  return base64({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

}  // namespace coppice
