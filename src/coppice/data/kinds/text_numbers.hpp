// Columns of texts that are numbers or dates in another spelling, and cells that mean missing: what stands
// between a parsed file and the decision on kinds. It works on the distinct texts of a column, not on cells.
#pragma once

#include <span>
#include <string>

#include "coppice/data/codebook.hpp"
#include "coppice/data/kinds/rules.hpp"
#include "coppice/data/raw_table.hpp"

namespace coppice {

/// Makes cells missing that one of the tokens names, as a text or as a number; and a lone sign such as - or .
/// in a column of words. Levels that were declared stay.
void settle_missing(RawColumn& column, std::span<const std::string> tokens);

struct TextNumbers {
  std::string unit;       // of the numbers; empty: none
  std::string ambiguous;  // how else the cells could be read; empty: in no other way
  std::string mixed;      // of a column that stays text: some of its cells are numbers
  bool decimal_comma = false;
};

/// Turns a column of texts into numbers if its cells are numbers or dates. With a spec of numbers every cell
/// must be one; without, nearly all (see KindRules), and Error{bad_data} names the first that is not.
TextNumbers settle_numbers(RawTable& raw, std::size_t index, const ColumnSpec* spec, const KindRules& rules);

}  // namespace coppice
