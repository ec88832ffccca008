// The list of families by name; all.hpp is THE LIST.
#pragma once

#include <string_view>

#include "coppice/family/inputs.hpp"

namespace coppice {

/// Throws Error{configuration} naming the families there are.
const FamilyEntry& family_by_name(std::string_view name);

}  // namespace coppice
