# Writes the example tables as string literals: cmake -DEXAMPLES=FOLDER -DOUTPUT=FILE -P embed_examples.cmake
file(READ ${EXAMPLES}/mixed.csv visitors)
file(READ ${EXAMPLES}/animals.csv animals)
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [==[
// Generated from examples/ by tools/embed_examples.cmake.
#include "coppice/app/example_tables.hpp"

namespace coppice::app {
std::string_view visitors_table() { return R"~~coppice~~(@visitors@)~~coppice~~"; }
std::string_view animals_table() { return R"~~coppice~~(@animals@)~~coppice~~"; }
}  // namespace coppice::app
]==])
