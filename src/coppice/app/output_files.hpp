// No command destroys what it reads: before any command runs, the files it is told to write are compared with
// all others that its command line names.
#pragma once

#include <string>
#include <vector>

#include "coppice/app/command.hpp"

namespace coppice::app {

/// Throws Error{usage} if an output is the same file as an input (also through another path or a link), or if
/// two outputs are the same.
void check_outputs(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs);

/// The same for what was given to a command: its outputs are --output and --truth-out; whatever else names an
/// existing file is an input.
void check_outputs(const CLI::App& command);

}  // namespace coppice::app
