// Columns and findings as JSON, for coppice codebook, coppice check and Python.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "coppice/data/codebook.hpp"
#include "coppice/data/kinds/finding.hpp"

namespace coppice {

/// Name, kind, levels, family, transform, hurdle, resolution, unit, missing_values, reason; null where there
/// is none.
nlohmann::ordered_json column_json(const ColumnSpec& spec);
nlohmann::ordered_json findings_json(const std::vector<Finding>& findings);

}  // namespace coppice
