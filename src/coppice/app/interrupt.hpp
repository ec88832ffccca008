// Ctrl-C: while there is nothing to keep it ends the program at once; later the first one asks for a clean
// stop, and only the second one ends the program at once.
#pragma once

#include <array>
#include <atomic>

namespace coppice::app {

/// Installs the handler for SIGINT, SIGTERM and SIGHUP while alive, except for those that are ignored. A
/// command that runs long has it from its beginning, so that stopping it gives the right exit code at any
/// moment.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  /// Becomes true at the first signal. Callers that ask for the flag must check it and stop cleanly.
  const std::atomic<bool>* flag() const;

 private:
  std::array<void (*)(int), 3> previous_;
};

}  // namespace coppice::app
