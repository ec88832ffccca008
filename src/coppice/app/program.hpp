// The program as a function, for commands that show how to use others.
#pragma once

#include <span>

namespace coppice::app {

/// Parses the words (the first is the program's name), runs the command, and turns errors into one line on
/// stderr and an exit code.
int run_program(std::span<char*> words);

}  // namespace coppice::app
