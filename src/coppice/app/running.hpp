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
};

/// Runs the chains to their end or to a stop; says where things stand; 0 or 75.
int carry_on(RunFile& file, ProblemSetup& setup, const RunFlags& flags, const InterruptGuard& guard,
             const Context& context, bool says_where = true);

}  // namespace coppice::app
