// The tables of examples/ that the program carries. The definition is generated: tools/embed_examples.cmake.
#pragma once

#include <string_view>

namespace coppice::app {

std::string_view visitors_table();
std::string_view animals_table();

}  // namespace coppice::app
