// From raw columns to typed ones: the form that a kind asks for, and whether a column keeps to the kind that
// was declared.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coppice/data/codebook.hpp"
#include "coppice/data/raw_table.hpp"

namespace coppice {

/// The plainest kind of numbers, for features of classifiers and for labels: binary if only 0 and 1 occur;
/// count for whole numbers from 0 to 10000 that repeat and are not clearly under-dispersed (variance / mean
/// >= 0.25); real otherwise. What clusterings take columns for is decided in kinds/.
Kind infer_number_kind(std::span<const double> values);

/// The two texts in the order false, true if they are yes/no, y/n, true/false, t/f or on/off in any case.
std::optional<std::vector<std::string>> boolean_levels(std::span<const std::string> levels);

/// Numeric order if all are numbers, byte order otherwise.
std::vector<std::string> sorted_levels(std::vector<std::string> levels);

/// Turns a column of numbers into one of texts, as if they had been read as texts.
void numbers_to_text(RawColumn& column);

/// The typed form of raw.columns[index], whose values are moved away, as a kind that was decided for it.
Column decided_column(RawTable& raw, std::size_t index, Kind kind);

/// The same with a kind that the plain rule gives it, or that was declared. With a spec every cell is held
/// against it and Error{bad_data} names the first that does not fit; `remedy` ends the message about an
/// unknown level.
Column typed_column(RawTable& raw, std::size_t index, const ColumnSpec* spec, std::string_view remedy);

}  // namespace coppice
