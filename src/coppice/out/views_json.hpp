// The views of a run as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "coppice/post/views.hpp"

namespace coppice {

nlohmann::ordered_json views_json(const SavedRun& run, const ReportedViews& report);

}  // namespace coppice
