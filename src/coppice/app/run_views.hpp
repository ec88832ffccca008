// The views of a run as text and JSON, for the commands that show them.
#pragma once

#include <string>

#include "coppice/app/context.hpp"
#include "coppice/post/views.hpp"

namespace coppice::app {

nlohmann::ordered_json views_json(const SavedRun& run, const ReportedViews& report);
/// A line for each view.
std::string views_text(const SavedRun& run, const ReportedViews& report, const Context& context);

}  // namespace coppice::app
