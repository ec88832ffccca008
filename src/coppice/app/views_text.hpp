// The views of a run as text.
#pragma once

#include <string>

#include "coppice/app/context.hpp"
#include "coppice/post/views.hpp"

namespace coppice::app {

/// A line for each view.
std::string views_text(const SavedRun& run, const ReportedViews& report, const Context& context);

}  // namespace coppice::app
