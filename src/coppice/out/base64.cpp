#include "coppice/out/base64.hpp"

#include <bit>
#include <cstdint>

namespace coppice {

static_assert(std::endian::native == std::endian::little, "base64_of writes the bytes of this machine");

std::string base64(std::string_view bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      text += k > bytes.size() - i ? '=' : kDigits[group >> (18 - 6 * k) & 63U];
  }
  return text;
}

}  // namespace coppice
