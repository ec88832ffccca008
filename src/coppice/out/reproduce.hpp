// How to draw a run again: its configuration as a command and as a TOML file for coppice fit --config.
#pragma once

#include <string>

#include "coppice/run/config.hpp"

namespace coppice {

/// One line for a shell.
std::string fit_command(const RunConfig& config, const std::string& output);
std::string fit_toml(const RunConfig& config, const std::string& output);

}  // namespace coppice
