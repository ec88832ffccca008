// At the head of every saved state: four letters of the model and the version of the format, so that a state
// of another version is told from a damaged one.
#pragma once

#include <cstdint>

#include "coppice/base/byte_stream.hpp"

namespace coppice {

class StateHeader {
 public:
  /// Up to four letters; a changed layout of the state is a new version.
  constexpr StateHeader(const char* letters, std::uint32_t version) : value_(version) {
    for (std::uint64_t i = 0; i < 4 && letters[i] != 0; ++i)
      value_ |= std::uint64_t{static_cast<unsigned char>(letters[i])} << (56 - 8 * i);
  }

  void write(ByteWriter& writer) const { writer.put(value_); }
  /// Throws Error{bad_data} for a state with another header.
  void check(ByteReader& reader, const char* refusal = kRefusal) const {
    if (reader.get<std::uint64_t>() != value_) fail(ErrorCode::bad_data, "{}", refusal);
  }
  /// For models whose first states had no header: whether there is one, which is then read past. Throws
  /// Error{bad_data} for that of another version.
  bool check_if_there(ByteReader& reader) const {
    if (reader.left() < sizeof value_ || reader.peek<std::uint64_t>() >> 32 != value_ >> 32) return false;
    check(reader);
    return true;
  }

 private:
  static constexpr const char* kRefusal =
      "this run was begun by another version and cannot be resumed; its draws can be read, and fitting again "
      "gives a run that can be resumed";

  std::uint64_t value_;
};

}  // namespace coppice
