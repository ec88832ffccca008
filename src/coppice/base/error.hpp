// The one exception type of the library. Its code is the exit code of the command line, so that a caller can
// distinguish bad data from a bug; its message names the value, the place and the remedy in one line.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace coppice {

/// Kinds of errors; the numbers are exit codes of the command line.
enum class ErrorCode : int {
  usage = 2,           // the call is not well formed
  bad_data = 65,       // the content of a file is wrong; the message names line and column
  cannot_read = 66,    // a file cannot be opened or read
  bug = 70,            // an invariant of ours is broken
  cannot_write = 74,   // a file cannot be created or written
  stopped = 75,        // stopped early; the run can be resumed
  configuration = 78,  // the settings contradict each other or the data
};

/// The only exception type that the library throws.
class Error : public std::runtime_error {
 public:
  /// An error with its kind and a one-line message.
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  /// The kind of error, which is also the exit code.
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

namespace detail {
[[noreturn]] void fail(ErrorCode code, fmt::string_view format, fmt::format_args args);
}

/// Throws Error{code} with a formatted message.
template <typename... Args>
[[noreturn]] void fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  detail::fail(code, format, fmt::make_format_args(args...));
}

}  // namespace coppice
