// No command destroys what it reads: before any command runs, the files it is told to write are compared with
// all others that its command line names.
#pragma once

#include <string>
#include <vector>

namespace coppice::app {

/// Throws Error{usage} if an output is the same file as an input (also through another path or a link), or if
/// two outputs are the same.
void check_outputs(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs);

/// Whether the value of an option with these names is a file to write.
bool is_output(const std::vector<std::string>& option_names);

}  // namespace coppice::app
