// toml++ as every file has it: without exceptions, and with its functions compiled once, in toml.cpp.
#pragma once

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 0
#include <toml++/toml.h>
