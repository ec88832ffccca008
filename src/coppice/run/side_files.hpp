// Files beside a run: SQLite's log, the lock of the program that draws, and what a creation that was killed
// has left. Their names follow from that of the run, so a file of the user may have one of them; only what is
// recognized is ever removed.
#pragma once

#include <string>

namespace coppice {

/// Throws Error{cannot_write} if something else has the name of SQLite's log or of the lock: SQLite would
/// overwrite it.
void check_side_files(const std::string& path);
/// Removes the log of an earlier run of that name, which must not be replayed into a new one.
void remove_logs(const std::string& path);
/// Removes what creations of the run that were killed have left: RUN.new-PID that no process has locked.
void remove_left_overs(const std::string& target);

/// A new run under a temporary name beside its own. At the end it takes its name or, if it was not published,
/// is removed.
class TemporaryRun {
 public:
  /// Also removes left-overs. Throws Error{cannot_write}.
  explicit TemporaryRun(const std::string& target);
  ~TemporaryRun();
  TemporaryRun(const TemporaryRun&) = delete;
  TemporaryRun& operator=(const TemporaryRun&) = delete;

  const std::string& path() const { return path_; }
  /// Gives the file its name. One that has it already is replaced only if `replace` is set.
  void publish(bool replace);

 private:
  std::string target_, path_;
  int descriptor_ = -1;  // locked: others see that it is in use
};

/// Held by the program that draws for a run; a second one is refused. It goes with the process that has it,
/// also if that is killed.
class RunLock {
 public:
  /// Throws Error{cannot_write} if another program, or another part of this one, has it.
  explicit RunLock(const std::string& run);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace coppice
