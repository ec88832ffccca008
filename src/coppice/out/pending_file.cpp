#include "coppice/out/pending_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "coppice/base/error.hpp"

namespace coppice {

namespace fs = std::filesystem;

namespace {

// A name beside the target; the process and the attempt keep writers of the same target apart.
fs::path temporary_beside(const fs::path& target, int attempt) {
  return target.parent_path() /
         fmt::format(".{}.{}-{}.part", target.filename().string(), ::getpid(), attempt);
}

std::string reason(int error_number) { return std::generic_category().message(error_number); }

}  // namespace

PendingFile::PendingFile(const fs::path& target) : target_(target), resolved_(target) {
  if (target.empty()) fail(ErrorCode::cannot_write, "cannot write a file without a name");
  std::error_code ignored;
  if (fs::is_symlink(target, ignored)) {
    // In a folder that others can write to, a link may have been put there to have another file replaced.
    struct stat link{};
    if (::lstat(target.c_str(), &link) == 0 && link.st_uid != ::geteuid())
      fail(ErrorCode::cannot_write, "cannot write {}: it is a symbolic link of another user",
           target.string());
    const fs::path real = fs::weakly_canonical(target, ignored);
    if (!ignored) resolved_ = real;
  }
  const fs::file_status status = fs::status(resolved_, ignored);
  if (fs::is_directory(status)) fail_with(EISDIR);
  direct_ = fs::exists(status) && !fs::is_regular_file(status);
  int descriptor = -1;
  if (direct_) {
    temporary_ = resolved_;
    descriptor = ::open(temporary_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    int attempt = 0;
    do {
      temporary_ = temporary_beside(resolved_, attempt);
      descriptor = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (descriptor < 0 && errno == EEXIST && ++attempt < 1000);
  }
  if (descriptor < 0) fail_with(errno);
  struct stat existing{};
  if (!direct_ && ::stat(resolved_.c_str(), &existing) == 0) {
    // The new file keeps the permissions of the one it replaces; one that cannot be written is not to be
    // replaced.
    if (::access(resolved_.c_str(), W_OK) != 0 || ::fchmod(descriptor, existing.st_mode & 07777) != 0) {
      const int error_number = errno;
      ::close(descriptor);
      ::unlink(temporary_.c_str());
      fail_with(error_number);
    }
  }
  stream_ = ::fdopen(descriptor, "wb");
  if (!stream_) {
    const int error_number = errno;
    ::close(descriptor);
    if (!direct_) ::unlink(temporary_.c_str());
    fail_with(error_number);
  }
}

PendingFile::~PendingFile() {
  if (stream_) std::fclose(stream_);
  if (!committed_ && !direct_) ::unlink(temporary_.c_str());
}

void PendingFile::write(std::string_view bytes) {
  if (!stream_) fail(ErrorCode::bug, "{} is written to after it was closed", target_.string());
  if (std::fwrite(bytes.data(), 1, bytes.size(), stream_) != bytes.size()) fail_with(errno);
}

void PendingFile::release_stream() {
  if (!stream_) return;
  const int failed = std::fclose(stream_);
  stream_ = nullptr;
  if (failed != 0) fail_with(errno);
}

void PendingFile::commit() {
  if (committed_) return;
  if (stream_) {
    if (std::fflush(stream_) != 0) fail_with(errno);
    if (!direct_ && ::fsync(::fileno(stream_)) != 0) fail_with(errno);
    release_stream();
  }
  if (!direct_ && ::rename(temporary_.c_str(), resolved_.c_str()) != 0) fail_with(errno);
  committed_ = true;
}

void PendingFile::fail_with(int error_number) const {
  fail(ErrorCode::cannot_write, "cannot write {}: {}", target_.string(), reason(error_number));
}

void write_file(const fs::path& target, std::string_view bytes) {
  PendingFile file(target);
  file.write(bytes);
  file.commit();
}

}  // namespace coppice
