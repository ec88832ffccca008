#include "coppice/app/interrupt.hpp"

#include <unistd.h>

#include <csignal>

namespace coppice::app {
namespace {

// A signal handler can reach nothing but a global; this is the program's, not the library's.
std::atomic<bool> interrupted{false};

extern "C" void on_signal(int signal) {
  if (interrupted.exchange(true)) ::_exit(128 + signal);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  interrupted = false;
  previous_int_ = std::signal(SIGINT, on_signal);
  previous_term_ = std::signal(SIGTERM, on_signal);
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, previous_int_);
  std::signal(SIGTERM, previous_term_);
}

const std::atomic<bool>* InterruptGuard::flag() const { return &interrupted; }

}  // namespace coppice::app
