// Helpers of the data tests: a temporary file that removes itself, and the error that a call throws.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>

#include "coppice/base/error.hpp"
#include "coppice/data/read.hpp"
#include "support/scratch_folder.hpp"

namespace coppice {

class TemporaryFile {
 public:
  TemporaryFile(const std::string& ending, std::string_view content) : path_(folder_.file("data" + ending)) {
    test::write_bytes(path_, content);
  }
  const std::string& path() const { return path_; }

 private:
  test::ScratchFolder folder_;
  std::string path_;
};

/// The message of the Error that the call throws; fails the test if the code differs, there is none, or it is
/// not a single line.
inline std::string message_of(ErrorCode code, const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    const std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  ADD_FAILURE() << "no error was thrown";
  return {};
}

inline std::string read_error(std::string_view text, const ReadOptions& options = {},
                              const std::string& name = "d.csv", ErrorCode code = ErrorCode::bad_data) {
  return message_of(code, [&] { read_dataset_bytes(text, name, options); });
}

inline Dataset read_text(std::string_view text, const ReadOptions& options = {},
                         const std::string& name = "d.csv") {
  return read_dataset_bytes(text, name, options);
}

inline bool same(double a, double b) { return is_missing(a) ? is_missing(b) : a == b; }

inline void expect_values(const Column& column, const std::vector<double>& expected) {
  ASSERT_EQ(column.values.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_TRUE(same(column.values[i], expected[i]))
        << column.name << "[" << i << "] is " << column.values[i];
}

}  // namespace coppice
