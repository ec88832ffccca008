// The hierarchy of a run as JSON: its nodes, and how tight they are.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "coppice/post/run_hierarchy.hpp"

namespace coppice {

/// Nodes with id, parent, level, size, support, name, rows and centroid (means of numbers, shares of binary
/// columns, the most frequent level of categories; in the data's units).
nlohmann::ordered_json hierarchy_json(const RunHierarchy& hierarchy, const SavedRun& run, bool full);
nlohmann::ordered_json quality_json(const QualityReport& report);

}  // namespace coppice
