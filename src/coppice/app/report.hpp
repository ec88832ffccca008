// The page of a run, for the commands that write or serve it.
#pragma once

#include <string>

#include "coppice/app/analysis.hpp"
#include "coppice/out/report.hpp"

namespace coppice::app {

std::string run_page(const Analysis& analysis, Selection selection, const ReportOptions& options);

}  // namespace coppice::app
