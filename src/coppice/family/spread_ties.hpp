// Rounded values and learned priors. A column that was written down with few digits has many equal values. A
// prior that learns how narrow clusters are would take them for clusters of no width at all, whose density
// has no bound. Such values represent intervals: equal ones are spread evenly over theirs, which is as wide
// as the smallest distance between two different values of the column.
#pragma once

#include <cstdint>
#include <functional>

#include "coppice/data/table.hpp"
#include "coppice/family/plan.hpp"
#include "coppice/family/rows.hpp"

namespace coppice {

/// In the real columns of blocks with a learned joint prior. `rows` are those of the table, as encode() gives
/// them; which of equal values goes where depends on the column's name and on the order of the rows alone.
void spread_ties(const FamilyPlan& plan, const Table& table, Rows& rows);

/// For tables that are nowhere as a whole: the widths over which spread_rows spreads, from a sample of the
/// rows; 0 for a column without equal values, and for one that is not spread at all.
void find_spreads(FamilyPlan& plan, const Table& sample);
/// A value of a column that has a width goes to a place in its interval that depends on the column's name and
/// `number(i)`, that of the row in the whole table.
void spread_rows(const FamilyPlan& plan, const Table& table,
                 const std::function<std::uint64_t(std::size_t)>& number, Rows& rows);

}  // namespace coppice
