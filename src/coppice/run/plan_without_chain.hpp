// Statistics of rows that no chain has made, for profiles and baselines: a joint block that learns its prior,
// or fills in missing cells, has neither without a chain, so its columns are taken as independent there.
#pragma once

#include <optional>

#include "coppice/run/problem_setup.hpp"

namespace coppice {

/// Nothing if the plan of the setup serves without a chain. The table is that of the setup.
std::optional<FamilyPlan> plan_without_chain(const ProblemSetup& setup, const Table& table);

}  // namespace coppice
