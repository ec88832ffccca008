// Plain values one after the other: how checkpoints and payloads of draws are written and read.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "coppice/base/error.hpp"

namespace coppice {

class ByteWriter {
 public:
  template <typename T>
  void put(const T& value) {
    put(&value, 1);
  }
  template <typename T>
  void put(const T* values, std::size_t count) {
    text_.append(reinterpret_cast<const char*>(values), count * sizeof(T));
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// Throws Error{bad_data} where the bytes end too early or too late.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : left_(bytes) {}
  template <typename T>
  T get() {
    T value;
    get(&value, 1);
    return value;
  }
  template <typename T>
  void get(T* values, std::size_t count) {
    if (left_.size() / sizeof(T) < count)
      fail(ErrorCode::bad_data, "the run file is damaged: a state ends too early");
    if (count != 0) std::memcpy(values, left_.data(), count * sizeof(T));
    left_.remove_prefix(count * sizeof(T));
  }
  /// The next value, which is left where it is.
  template <typename T>
  T peek() const {
    return ByteReader(*this).get<T>();
  }
  std::string_view take(std::size_t count) {
    if (left_.size() < count) fail(ErrorCode::bad_data, "the run file is damaged: a state ends too early");
    const std::string_view taken = left_.substr(0, count);
    left_.remove_prefix(count);
    return taken;
  }
  std::size_t left() const { return left_.size(); }
  void end() const {
    if (!left_.empty())
      fail(ErrorCode::bad_data, "the run file is damaged: a state is {} bytes too long", left_.size());
  }

 private:
  std::string_view left_;
};

}  // namespace coppice
