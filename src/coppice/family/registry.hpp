// The list of families as everyone else sees it: by name and by trait. all.hpp is THE LIST; only registry.cpp
// includes it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coppice/family/inputs.hpp"

namespace coppice {

const std::vector<FamilyEntry>& all_families();

/// Throws Error{configuration} naming the families there are.
const FamilyEntry& family_by_name(std::string_view name);

/// The family that --family auto takes for columns of a kind; of real columns one that joins them, if
/// `joint`.
const FamilyEntry& automatic_family(Kind kind, bool joint);

/// The first family of the list that models the same values with columns that are independent within a
/// cluster.
const FamilyEntry& independent_family_like(std::string_view name);

}  // namespace coppice
