// Columns that repeat others: equal, affine, one-to-one as categories, or a linear combination of several.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "coppice/data/codebook.hpp"
#include "coppice/data/kinds/rules.hpp"
#include "coppice/data/table.hpp"

namespace coppice {

struct Redundancy {
  std::size_t column = 0;
  std::size_t of = 0;      // the column that it repeats; itself if it is a combination of several
  bool collinear = false;  // otherwise a duplicate
  bool certain = true;     // false: too few rows to tell from chance
  std::string reason;
};

/// Of two columns that repeat each other the later one, unless only the earlier one may be left out. Columns
/// that may not be left out are never named.
std::vector<Redundancy> find_redundant(std::span<const Column> columns, std::span<const ColumnSpec> specs,
                                       const std::vector<bool>& may_leave, const KindRules& rules);

/// Whether the two columns divide the rows in the same way, where both are present.
bool is_one_to_one(const Column& a, const Column& b);
/// Whether each value of the first belongs to one value of the second, where both are present.
bool determines(const Column& a, const Column& b);

}  // namespace coppice
