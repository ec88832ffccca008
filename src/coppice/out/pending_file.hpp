// A file that appears whole or not at all: everything is written to a temporary file beside the target, which
// takes the target's name only on commit. A link is followed, so that its target is replaced and not the
// link. A device or a pipe
// (/dev/null, /dev/stdout) cannot be replaced and is written to directly.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

namespace coppice {

class PendingFile {
 public:
  /// Creates the temporary file; throws Error{cannot_write} with the system's reason if that fails.
  explicit PendingFile(const std::filesystem::path& target);
  /// Removes the temporary file if it was not committed; the target is then as it was.
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  void write(std::string_view bytes);
  /// Flushes to the disk and gives the file its name. Throws Error{cannot_write}, and then the target is
  /// untouched.
  void commit();

 private:
  void release_stream();
  [[noreturn]] void fail_with(int error_number) const;

  std::filesystem::path target_;    // as given, for messages
  std::filesystem::path resolved_;  // where links lead
  std::filesystem::path temporary_;
  std::FILE* stream_ = nullptr;
  bool direct_ = false;
  bool committed_ = false;
};

/// Writes a whole file at once through a PendingFile.
void write_file(const std::filesystem::path& target, std::string_view bytes);

}  // namespace coppice
