// Any text as a codebook: refused with a message of one line, or read to something that survives a round
// trip.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "coppice/base/error.hpp"
#include "coppice/data/codebook.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  coppice::Codebook codebook;
  try {
    codebook = coppice::parse_codebook({reinterpret_cast<const char*>(data), size}, "book.toml");
  } catch (const coppice::Error& error) {
    if (error.code() != coppice::ErrorCode::bad_data) std::abort();
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) std::abort();
    return 0;
  }
  // Texts are compared because a setting may be NaN, which equals nothing.
  const std::string text = coppice::to_toml(codebook);
  if (coppice::to_toml(coppice::parse_codebook(text, "again.toml")) != text) std::abort();
  return 0;
}
