// Answers to questions about columns, rows and cells as JSON values, spelled alike by the command line, the
// report and Python.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "coppice/post/column_dependence.hpp"
#include "coppice/post/impute.hpp"
#include "coppice/post/unusual_rows.hpp"

namespace coppice {

nlohmann::ordered_json dependence_json(const SavedRun& run, std::span<const ColumnDependence> pairs);
/// `ids` are the names of the rows that were judged.
nlohmann::ordered_json unusual_rows_json(const SavedRun& run, const UnusualRows& found,
                                         std::span<const std::string> ids);
/// The predictive of one cell: numbers in the units of the data, levels by name.
nlohmann::ordered_json cell_json(const SavedRun& run, const ImputedCell& cell);
/// A number of a column that has no levels as people write it: a number or a date.
nlohmann::ordered_json number_json(const Column& column, double value);
/// A value of a column as people write it: a number, a date or the name of a level.
nlohmann::ordered_json value_json(const SavedRun& run, std::size_t column, double value);

}  // namespace coppice
