// SHA-256 through OpenSSL's EVP interface.
#include "coppice/data/digest.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "coppice/base/error.hpp"

namespace coppice {

std::string sha256_bytes(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> sum;
  unsigned int length = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), sum.data(), &length, EVP_sha256(), nullptr) != 1)
    fail(ErrorCode::bug, "the cryptographic library has no SHA-256");
  return {sum.begin(), sum.begin() + length};
}

std::string sha256_hex(std::string_view bytes) {
  std::string hex;
  for (const char byte : sha256_bytes(bytes)) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return hex;
}

}  // namespace coppice
