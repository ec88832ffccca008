// What is said about a command line that is not well formed: what is wrong, what could have been meant, and
// the next command to type.
#pragma once

#include <span>
#include <string>

#include "coppice/app/context.hpp"

namespace coppice::app {

/// One line without "coppice: ". The first word is the program's name.
std::string usage_error(const CLI::App& application, std::span<char* const> words,
                        const CLI::ParseError& error);

/// For the one who typed nothing but the name of the program.
std::string first_steps();

}  // namespace coppice::app
