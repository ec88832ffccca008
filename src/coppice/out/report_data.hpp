// What a report shows, collected from a run as one JSON value; web/src/data.ts describes it from the other
// side. Rows are in the order of the tree; a row is named by its place in that order.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "coppice/post/analysis.hpp"

namespace coppice {

nlohmann::ordered_json report_data(const Analysis& analysis, Selection selection);

}  // namespace coppice
