// Regular files are mapped: large ones are parsed without a copy. A file that is made shorter while it is
// parsed ends the process (SIGBUS), as it would with any reader that maps. Pipes, terminals and what cannot
// be mapped are read to their end.
#include "coppice/data/load.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "coppice/base/close_names.hpp"
#include "coppice/base/error.hpp"

namespace coppice {
namespace {

constexpr std::size_t kFirstRead = std::size_t{1} << 16;

class Descriptor {
 public:
  explicit Descriptor(const std::string& path)
      : fd_(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (fd_ > STDIN_FILENO) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

[[noreturn]] void fail_read(const std::string& path, int error) {
  fail(ErrorCode::cannot_read, "{}: cannot be read: {}{}", path == "-" ? "stdin" : path,
       std::generic_category().message(error), error == ENOENT ? similar_file(path) : "");
}

}  // namespace

FileBytes::FileBytes(FileBytes&& other) noexcept
    : mapped_(std::exchange(other.mapped_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      copied_(std::move(other.copied_)) {}

FileBytes::~FileBytes() {
  if (mapped_ != nullptr) munmap(const_cast<char*>(mapped_), size_);
}

FileBytes load_file(const std::string& path) {
  const Descriptor file(path);
  if (file.get() < 0) fail_read(path, errno);
  struct stat status{};
  if (fstat(file.get(), &status) != 0) fail_read(path, errno);
  FileBytes bytes;
  if (S_ISREG(status.st_mode) && status.st_size > 0) {
    const auto size = static_cast<std::size_t>(status.st_size);
    void* mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (mapped != MAP_FAILED) {
      madvise(mapped, size, MADV_SEQUENTIAL);
      bytes.mapped_ = static_cast<const char*>(mapped);
      bytes.size_ = size;
      return bytes;
    }
  }
  std::size_t used = 0;
  for (;;) {
    if (used == bytes.copied_.size()) bytes.copied_.resize(std::max(kFirstRead, 2 * used));
    const ssize_t got = read(file.get(), bytes.copied_.data() + used, bytes.copied_.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_read(path, errno);
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  bytes.copied_.resize(used);
  return bytes;
}

std::string similar_file(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path wanted(path);
  const fs::path folder = wanted.has_parent_path() ? wanted.parent_path() : fs::path(".");
  constexpr std::size_t kMostFiles = 10'000;
  std::vector<std::string> names;
  std::error_code problem;
  for (fs::directory_iterator entry(folder, problem), end;
       !problem && entry != end && names.size() < kMostFiles; entry.increment(problem))
    names.push_back(entry->path().filename().string());
  std::sort(names.begin(), names.end());  // folders have no order
  const std::string question = did_you_mean(wanted.filename().string(), names);
  return question.empty() ? "" : "; " + question;
}

FileFormat format_of_name(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  FileFormat result;
  const auto strip = [&lower](std::string_view ending) {
    if (!lower.ends_with(ending)) return false;
    lower.resize(lower.size() - ending.size());
    return true;
  };
  result.gzip_name = strip(".gz");
  result.zstd_name = !result.gzip_name && (strip(".zst") || strip(".zstd"));
  if (lower.ends_with(".npy")) result.format = Format::npy;
  for (const char* ending : {".parquet", ".pq", ".arrow", ".feather", ".ipc"})
    if (lower.ends_with(ending)) result.format = Format::arrow;
  if (lower.ends_with(".svm") || lower.ends_with(".svmlight") || lower.ends_with(".libsvm"))
    result.format = Format::svmlight;
  if (lower.ends_with(".tsv")) result.delimiter = '\t';
  result.prefer_comma = lower.ends_with(".csv");
  return result;
}

}  // namespace coppice
