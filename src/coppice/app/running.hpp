// What the commands that run chains have in common.
#pragma once

#include <string>

#include "coppice/app/context.hpp"
#include "coppice/app/interrupt.hpp"
#include "coppice/run/fit_service.hpp"

namespace coppice::app {

struct RunFlags {
  std::size_t threads = 0;
  std::string time_limit;

  void add_to(CLI::App& command);
  /// In seconds, 0: none. Throws Error{usage}.
  double seconds() const;
  /// Threads, time limit and the guard's flag: from here on a signal is a clean stop.
  FitOptions options(const InterruptGuard& guard) const;
};

/// What follows the last line of progress when a fit is finished.
enum class AtTheEnd { say_where, say_nothing };

/// Runs the chains to their end or to a stop; says where things stand; 0 or 75.
int run_to_completion(Fit& fit, const Context& context, AtTheEnd at_the_end = AtTheEnd::say_where);

}  // namespace coppice::app
