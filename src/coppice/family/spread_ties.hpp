// Rounded values and learned priors. A column that was written down with few digits has many equal values. A
// prior that learns how narrow clusters are would take them for clusters of no width at all, whose density
// has no bound. Such values represent intervals: equal ones are spread evenly over theirs, which is as wide
// as the smallest distance between two different values of the column.
#pragma once

#include "coppice/data/table.hpp"
#include "coppice/family/plan.hpp"
#include "coppice/family/rows.hpp"

namespace coppice {

/// In the real columns of blocks with a learned joint prior. `rows` are those of the table, as encode() gives
/// them; which of equal values goes where depends on the column's name and on the order of the rows alone.
void spread_ties(const FamilyPlan& plan, const Table& table, Rows& rows);

}  // namespace coppice
