#include "coppice/app/interrupt.hpp"

#include <unistd.h>

#include <array>
#include <csignal>
#include <string_view>

#include "coppice/base/error.hpp"

namespace coppice::app {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};

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
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    previous_[i] = std::signal(kSignals[i], on_signal);
    // nohup, and shells that start a command in the background, ask for signals to be ignored.
    if (previous_[i] == SIG_IGN) std::signal(kSignals[i], SIG_IGN);
  }
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) std::signal(kSignals[i], previous_[i]);
}

const std::atomic<bool>* InterruptGuard::flag() const {
  heeded = true;
  return &interrupted;
}

}  // namespace coppice::app
