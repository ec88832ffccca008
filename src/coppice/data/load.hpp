// Bytes of a file, and the format that its name and first bytes announce.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace coppice {

/// The bytes of a file, mapped where the system can map it and copied where not.
class FileBytes {
 public:
  FileBytes() = default;
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  FileBytes(FileBytes&& other) noexcept;
  FileBytes& operator=(FileBytes&&) = delete;
  ~FileBytes();
  std::string_view view() const { return mapped_ != nullptr ? std::string_view(mapped_, size_) : copied_; }

 private:
  friend FileBytes load_file(const std::string& path);
  const char* mapped_ = nullptr;
  std::size_t size_ = 0;
  std::string copied_;
};

/// The whole file, or all of stdin for "-". Throws Error{cannot_read}.
FileBytes load_file(const std::string& path);

/// "; did you mean 'table.csv'?" for a file that is not there, if its folder has one of a similar name; else
/// "".
std::string similar_file(const std::string& path);

enum class Format { csv, npy, svmlight, arrow };

struct FileFormat {
  Format format = Format::csv;
  char delimiter = '\0';      // of csv; '\0': to be found out
  bool prefer_comma = false;  // of csv
  bool gzip_name = false;
  bool zstd_name = false;
};

FileFormat format_of_name(std::string_view name);

}  // namespace coppice
