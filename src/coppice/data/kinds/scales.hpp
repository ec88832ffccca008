// The scale of measurements that are modeled jointly. Skewness judges a column alone; but where columns
// depend on each other linearly as they are, logarithms of some of them would bend what was straight.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "coppice/data/codebook.hpp"
#include "coppice/data/kinds/rules.hpp"
#include "coppice/data/table.hpp"

namespace coppice {

/// Places of columns that are on the log scale by inference, under which one normal distribution of all real
/// columns has a higher density (in original units) with the column as it is.
std::vector<std::size_t> find_better_without_log(std::span<const Column> columns,
                                                 std::span<const ColumnSpec> specs, const KindRules& rules);

}  // namespace coppice
