// Weights of rows: a row of weight w stands for w equal rows.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "coppice/data/table.hpp"

namespace coppice {

/// Rows that all weights together may stand for.
inline constexpr double kMostCopies = 1e7;

/// Why this is not a weight, after the words "the weight X"; empty: it is one.
std::string why_not_a_weight(double value);
/// Throws Error{bad_data} for weights that are none, or stand for too many rows; `what` is what they are
/// called, such as "--weights count".
void check_weights(std::span<const double> weights, const std::string& what);

/// The table with every row repeated as often as its weight says.
Table repeat_rows(const Table& table, std::span<const double> weights);

}  // namespace coppice
