// Before the header, so that this file is compiled alone (CMakeLists.txt).
#define TOML_IMPLEMENTATION
#include "coppice/base/toml.hpp"
