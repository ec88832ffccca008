# Writes the report's script and style as string literals: cmake -DDIST=FOLDER -DOUTPUT=FILE -P embed_report.cmake
# A compiler need not take a literal of more than 64 kB, but ours all do.
file(READ ${DIST}/report.js script)
file(READ ${DIST}/report.css style)
foreach(content IN ITEMS script style)
  string(FIND "${${content}}" ")~~coppice~~\"" found)
  string(FIND "${${content}}" "</${content}" ends)
  if(NOT found EQUAL -1 OR NOT ends EQUAL -1)
    message(FATAL_ERROR "the report's ${content} contains what would end it")
  endif()
endforeach()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [==[
// Generated from web/dist by tools/embed_report.cmake.
#include "coppice/out/report_assets.hpp"

namespace coppice {
ReportAssets report_assets() {
  return {R"~~coppice~~(@script@)~~coppice~~", R"~~coppice~~(@style@)~~coppice~~"};
}
}  // namespace coppice
]==])
