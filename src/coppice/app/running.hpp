// What the commands that run chains have in common.
#pragma once

#include <string>

#include "coppice/app/context.hpp"
#include "coppice/app/interrupt.hpp"
#include "coppice/run/problem_setup.hpp"
#include "coppice/run/run_file.hpp"

namespace coppice::app {

struct RunFlags {
  std::size_t threads = 0;
  std::string time_limit;

  void add_to(CLI::App& command);
  /// In seconds, 0: none. Throws Error{usage}.
  double seconds() const;
};

/// resolve_settings, which a signal stops with Error{stopped}: nothing has been written by then.
void choose_settings(RunContents& contents, std::unique_ptr<ProblemSetup>& setup, const RunFlags& flags,
                     const InterruptGuard& guard);

/// Runs the chains to their end or to a stop; says where things stand; 0 or 75.
int run_to_completion(RunFile& file, ProblemSetup& setup, const RunFlags& flags, const InterruptGuard& guard,
                      const Context& context, bool says_where = true);

}  // namespace coppice::app
