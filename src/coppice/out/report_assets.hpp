// The report's script and style as built from web/. Defined in generated code: link the CMake target
// coppice_report, which needs node and npm to build; the library does without.
#pragma once

#include "coppice/out/report.hpp"

namespace coppice {

/// The script and the style of the page.
ReportAssets report_assets();

}  // namespace coppice
