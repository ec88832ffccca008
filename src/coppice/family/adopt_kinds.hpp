// Kinds of columns are inferred from their values; a family that was named may take another kind that the
// values fit as well.
#pragma once

#include <string>

#include "coppice/data/codebook.hpp"
#include "coppice/data/kinds/rules.hpp"
#include "coppice/data/table.hpp"
#include "coppice/family/inputs.hpp"

namespace coppice {

/// The rules for kinds, with those families that are on the list.
KindRules kind_rules();

/// A column of numbers whose family was named, here or in the codebook, becomes of the first kind that the
/// family takes and its values fit: whole numbers are counts or names of levels, 0 and 1 are bits. Others
/// stay as they were read. What was inferred gives way to the name: numbers that were taken for categories
/// are numbers again, without transform, hurdle or resolution. No name, or "auto": only the codebook names
/// families.
void adopt_kinds(Table& table, Codebook& codebook, const std::string& family);

/// Why a column is of no kind that the family takes, in words.
std::string why_not(const FamilyEntry& entry, const Column& column);

}  // namespace coppice
