#include "coppice/run/side_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "coppice/base/error.hpp"

namespace coppice {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

constexpr std::array kLogs{"-wal"sv, "-shm"sv, "-journal"sv};
constexpr std::string_view kLock = "-lock";
constexpr std::string_view kLockText = "coppice lock\n";
constexpr std::string_view kTemporary = ".new-";

std::string first_bytes(const std::string& path) {
  char bytes[16] = {};
  std::ifstream file(path, std::ios::binary);
  file.read(bytes, sizeof bytes);
  return {bytes, static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount()))};
}

/// A file that SQLite or we have made, by its first bytes; an empty one has nothing to lose.
bool is_log(std::string_view suffix, std::string_view begin) {
  // A journal that was committed begins with zeros; so does shared memory that was not used yet.
  if (begin.find_first_not_of('\0') == std::string_view::npos) return true;
  if (suffix == "-wal")
    return begin.starts_with("\x37\x7f\x06\x82"sv) || begin.starts_with("\x37\x7f\x06\x83"sv);
  // A journal has its mark, or zeros in its place before it is synced.
  if (suffix == "-journal")
    return begin.starts_with("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"sv) || begin.starts_with("\0\0\0\0\0\0\0\0"sv);
  constexpr unsigned kVersionOfIndex = 3007000;
  unsigned version = 0;
  if (begin.size() < sizeof version) return false;
  std::memcpy(&version, begin.data(), sizeof version);
  return version == kVersionOfIndex;
}

bool is_lock(std::string_view begin) { return begin.empty() || kLockText.starts_with(begin); }

/// The identity of what an open file and a name lead to.
bool is_at(int descriptor, const std::string& path) {
  struct stat open{};
  struct stat named{};
  return ::fstat(descriptor, &open) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

/// RUN.new-PID of the run's name, also with the suffix of a log.
bool is_temporary_name(std::string_view name, std::string_view run) {
  if (!name.starts_with(run)) return false;
  name.remove_prefix(run.size());
  if (!name.starts_with(kTemporary)) return false;
  name.remove_prefix(kTemporary.size());
  for (const std::string_view suffix : kLogs)
    if (name.ends_with(suffix)) {
      name.remove_suffix(suffix.size());
      break;
    }
  return !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
}

void remove_if_left_over(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(fs::symlink_status(path, ignored))) return;
  const std::string begin = first_bytes(path);
  if (!begin.empty() && !begin.starts_with("SQLite format 3"sv)) return;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return;  // gone meanwhile, or not ours to touch
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0 && is_at(descriptor, path)) {
    remove_logs(path);
    ::unlink(path.c_str());
  }
  ::close(descriptor);
}

[[noreturn]] void fail_strange(const std::string& run, const std::string& strange) {
  fail(ErrorCode::cannot_write,
       "{}: there is a file {} beside it that is not part of a run and would be overwritten; choose another "
       "name for the run, or move that file",
       run, fs::path(strange).filename().string());
}

}  // namespace

void check_side_files(const std::string& path) {
  std::error_code problem;
  for (const std::string_view suffix : kLogs) {
    const std::string name = fmt::format("{}{}", path, suffix);
    const fs::file_status status = fs::symlink_status(name, problem);
    if (fs::exists(status) && (!fs::is_regular_file(status) || !is_log(suffix, first_bytes(name))))
      fail_strange(path, name);
  }
  const std::string lock = fmt::format("{}{}", path, kLock);
  const fs::file_status status = fs::symlink_status(lock, problem);
  if (fs::exists(status) && (!fs::is_regular_file(status) || !is_lock(first_bytes(lock))))
    fail_strange(path, lock);
}

void remove_logs(const std::string& path) {
  std::error_code problem;
  for (const std::string_view suffix : kLogs)
    if (const std::string name = fmt::format("{}{}", path, suffix); is_log(suffix, first_bytes(name)))
      fs::remove(name, problem);
}

void remove_left_overs(const std::string& target) {
  std::error_code problem;
  const fs::path folder = fs::path(target).parent_path();
  const std::string run = fs::path(target).filename().string();
  std::vector<std::string> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder.empty() ? "." : folder, problem))
    if (const std::string name = entry.path().filename().string();
        is_temporary_name(name, run) &&
        std::none_of(kLogs.begin(), kLogs.end(), [&](std::string_view log) { return name.ends_with(log); }))
      found.push_back((folder / name).string());
  for (const std::string& path : found) remove_if_left_over(path);
}

TemporaryRun::TemporaryRun(const std::string& target)
    : target_(target), path_(fmt::format("{}{}{}", target, kTemporary, ::getpid())) {
  remove_left_overs(target);
  // Another creation may take the file for a left-over before it is locked.
  for (int attempt = 0; attempt < 10; ++attempt) {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (descriptor_ < 0) fail(ErrorCode::cannot_write, "{}: {}", target, std::strerror(errno));
    // A file system without locks has no left-overs that could be recognized, and nothing to wait for.
    ::flock(descriptor_, LOCK_EX);
    if (is_at(descriptor_, path_)) return;
    ::close(descriptor_);
    descriptor_ = -1;
  }
  fail(ErrorCode::cannot_write, "{}: another program is creating this run", target);
}

TemporaryRun::~TemporaryRun() {
  if (is_at(descriptor_, path_)) {
    remove_logs(path_);
    ::unlink(path_.c_str());
  }
  ::close(descriptor_);
}

void TemporaryRun::publish(bool replace) {
  // One step, so that a kill leaves either name and never both. Without --overwrite a file that another
  // process has made meanwhile is not replaced; file systems that cannot rename like that can link.
  int result =
      ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.c_str(), replace ? 0 : RENAME_NOREPLACE);
  if (result != 0 && (errno == EINVAL || errno == ENOSYS)) {
    result = replace ? ::rename(path_.c_str(), target_.c_str()) : ::link(path_.c_str(), target_.c_str());
    if (result == 0 && !replace) ::unlink(path_.c_str());
  }
  if (result != 0) fail(ErrorCode::cannot_write, "{}: {}", target_, std::strerror(errno));
}

RunLock::RunLock(const std::string& run) : path_(fmt::format("{}{}", run, kLock)) {
  for (int attempt = 0; attempt < 10; ++attempt) {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (descriptor_ < 0) fail(ErrorCode::cannot_write, "{}: {}", run, std::strerror(errno));
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      ::close(descriptor_);
      fail(ErrorCode::cannot_write, "{}: another program is drawing for this run; wait for it or stop it",
           run);
    }
    // The one that had it may have removed the name since.
    if (is_at(descriptor_, path_)) {
      if (::pwrite(descriptor_, kLockText.data(), kLockText.size(), 0) < 0) {
        const int reason = errno;
        ::unlink(path_.c_str());
        ::close(descriptor_);
        fail(ErrorCode::cannot_write, "{}: {}", run, std::strerror(reason));
      }
      return;
    }
    ::close(descriptor_);
  }
  fail(ErrorCode::cannot_write, "{}: another program is drawing for this run; wait for it or stop it", run);
}

RunLock::~RunLock() {
  ::unlink(path_.c_str());
  ::close(descriptor_);
}

}  // namespace coppice
