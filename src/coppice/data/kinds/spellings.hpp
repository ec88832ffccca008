// Texts that people write in more than one way, and rows that are no data: what a table typed by hand brings.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "coppice/data/raw_table.hpp"

namespace coppice {

/// True for yes, Y, true, T and on, false for their opposites, in any case; nothing for any other text.
std::optional<bool> yes_or_no(std::string_view text);

/// Texts that all say yes or no, in more than two spellings, get the most frequent spelling of either. It
/// returns how many there were; 0: nothing was changed.
std::size_t join_spellings_of_yes_and_no(RawColumn& column);

/// Levels that differ only in case or in blanks around them, such as 'Active' and 'active'; empty: none.
std::string levels_alike(const RawColumn& column);

/// The text in the last row that says that the row holds totals; nothing if there is none.
struct TotalRow {
  std::size_t column = 0;
  std::string text;
};
std::optional<TotalRow> find_total_row(const RawTable& raw);

/// The letters behind the numbers if nearly all texts are numbers with the same letters: "k" for 10k and 25k.
std::string common_suffix(const RawColumn& column, double share);

}  // namespace coppice
