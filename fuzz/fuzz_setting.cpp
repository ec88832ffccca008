// Any text as a hyper-parameter value: refused with Error{usage}, or read to a value that its TOML reads
// back.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "coppice/base/error.hpp"
#include "coppice/base/setting.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const coppice::Setting setting = coppice::parse_setting(text);
    for (const double number : setting.numbers)
      if (number != number) return 0;  // NaN is not equal to itself
    if (!(coppice::parse_setting(coppice::to_toml(setting)) == setting)) std::abort();
  } catch (const coppice::Error& error) {
    if (error.code() != coppice::ErrorCode::usage) std::abort();
  }
  return 0;
}
