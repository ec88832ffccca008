// What the pages of all models have in common, and the data of the pages of those that learn labels.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "coppice/post/analysis.hpp"

namespace coppice {

/// Five significant digits are more than a picture shows, and half the text.
double brief(double value);
/// Three decimals.
double share(double value);

nlohmann::ordered_json report_head(const Analysis& analysis);
nlohmann::ordered_json report_reproduce(const SavedRun& run);

/// Names, kinds and strengths of the columns that are shown; the strengths are those of all columns.
nlohmann::ordered_json report_columns(const SavedRun& run, std::span<const std::size_t> columns,
                                      std::span<const double> strengths);
/// How many rows there are, and the names of those that are shown.
nlohmann::ordered_json report_rows(const SavedRun& run, std::span<const std::uint32_t> rows);
/// Their cells, row by row, in the units of the data: floats in base 64.
std::string report_cells(const SavedRun& run, std::span<const std::uint32_t> rows,
                         std::span<const std::size_t> columns);

/// Unusual rows, and the mutual information of the first columns; empty where that would take long.
nlohmann::ordered_json report_questions(const SavedRun& run, std::span<const std::size_t> columns);

nlohmann::ordered_json label_report_data(const Analysis& analysis);

}  // namespace coppice
