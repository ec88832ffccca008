// What a run was made with after all defaults were filled in: the parameters of the model, which family
// models which columns, and every hyper-parameter by name. A RunConfig says what was asked for, this says
// what came of it; a run file keeps both, so that no default of a later version changes what an old run
// answers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coppice/base/setting.hpp"
#include "coppice/family/plan.hpp"

namespace coppice {

struct EffectiveConfig {
  Settings parameters;                    // of the model; numbers for columns are in the table's order
  std::vector<FamilyPlan::Block> blocks;  // empty: families are still to be planned

  bool operator==(const EffectiveConfig&) const = default;
};

/// Every number keeps its bits.
std::string to_json(const EffectiveConfig& config);
/// Throws Error{bad_data} if the text is not an effective configuration of a table of this many columns.
EffectiveConfig effective_from_json(std::string_view text, std::size_t columns);

}  // namespace coppice
