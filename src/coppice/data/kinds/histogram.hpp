// The shape of a column in a few bars, for a line of a terminal.
#pragma once

#include <cstddef>
#include <vector>

#include "coppice/data/codebook.hpp"
#include "coppice/data/table.hpp"

namespace coppice {

/// Cells by level, by distinct number if there are few, else in bins of equal width (on the log scale if the
/// column is modeled there); at most `bars`, the last of which holds all further levels.
std::vector<std::size_t> small_histogram(const Column& column, const ColumnSpec& spec, std::size_t bars);

}  // namespace coppice
