// Ctrl-C: the first one asks for a clean stop, the second one ends the program at once.
#pragma once

#include <atomic>

namespace coppice::app {

/// Installs the handler for SIGINT and SIGTERM while alive; flag() becomes true at the first signal.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  const std::atomic<bool>* flag() const;

 private:
  void (*previous_int_)(int);
  void (*previous_term_)(int);
};

}  // namespace coppice::app
