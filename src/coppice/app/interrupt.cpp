#include "coppice/app/interrupt.hpp"

#include <unistd.h>

#include <csignal>
#include <string_view>

#include "coppice/base/error.hpp"

namespace coppice::app {
namespace {

// A signal handler can only reach a global; this one belongs to the program, not to the library.
std::atomic<bool> interrupted{false};
std::atomic<bool> heeded{false};

extern "C" void on_signal(int signal) {
  if (!heeded) {
    constexpr std::string_view kFarewell = "coppice: stopped before the first step\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kFarewell.data(), kFarewell.size());
    ::_exit(static_cast<int>(ErrorCode::stopped));
  }
  if (interrupted.exchange(true)) ::_exit(128 + signal);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  interrupted = false;
  heeded = false;
  previous_int_ = std::signal(SIGINT, on_signal);
  previous_term_ = std::signal(SIGTERM, on_signal);
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, previous_int_);
  std::signal(SIGTERM, previous_term_);
}

const std::atomic<bool>* InterruptGuard::flag() const {
  heeded = true;
  return &interrupted;
}

}  // namespace coppice::app
