// The report of a run as one page.
#pragma once

#include <string>

#include "coppice/out/report.hpp"
#include "coppice/post/analysis.hpp"

namespace coppice {

/// The assets are report_assets() in programs that link them.
std::string run_page(const ReportAssets& assets, const Analysis& analysis, Selection selection,
                     const ReportOptions& options = {});

}  // namespace coppice
