#include "coppice/out/ask_json.hpp"

#include <nlohmann/json.hpp>

namespace coppice {
namespace {

using nlohmann::ordered_json;

bool has_levels(const Column& column) { return column.kind == Kind::binary || column.kind == Kind::category; }

std::string level_name(const Column& column, std::size_t level) {
  return level < column.levels.size() ? column.levels[level] : std::to_string(level);
}

}  // namespace

ordered_json number_json(const Column& column, double value) {
  if (is_missing(value)) return nullptr;
  if (column.dates) return column.number_text(value);
  return value;
}

ordered_json value_json(const SavedRun& run, std::size_t column, double value) {
  const Column& of = run.table().columns[column];
  if (is_missing(value)) return nullptr;
  if (has_levels(of)) return level_name(of, static_cast<std::size_t>(value));
  return number_json(of, value);
}

ordered_json cell_json(const SavedRun& run, const ImputedCell& cell) {
  const Column& column = run.table().columns[cell.column];
  ordered_json answer{{"column", column.name},
                      {"mean", number_json(column, cell.mean)},
                      {"sd", cell.sd},
                      {"median", number_json(column, cell.median)},
                      {"low", number_json(column, cell.low)},
                      {"high", number_json(column, cell.high)},
                      {"mode", nullptr},
                      {"probability", cell.probability}};
  if (!cell.level.empty()) answer["mode"] = cell.level;
  answer["probabilities"] = ordered_json::object();
  for (std::size_t level = 0; level < cell.probabilities.size(); ++level)
    answer["probabilities"][level_name(column, level)] = cell.probabilities[level];
  return answer;
}

ordered_json dependence_json(const SavedRun& run, std::span<const ColumnDependence> pairs) {
  ordered_json list = ordered_json::array();
  for (const ColumnDependence& pair : pairs)
    list.push_back({{"first", run.table().columns[pair.first].name},
                    {"second", run.table().columns[pair.second].name},
                    {"mutual_information", pair.mutual_information},
                    {"low", pair.low},
                    {"high", pair.high},
                    {"correlation", pair.correlation},
                    {"share_of_first", pair.share_of_first},
                    {"share_of_second", pair.share_of_second},
                    {"same_view", pair.same_view}});
  return list;
}

ordered_json unusual_rows_json(const SavedRun& run, const UnusualRows& found,
                               std::span<const std::string> ids) {
  ordered_json list = ordered_json::array();
  for (const UnusualRow& row : found.rows) {
    ordered_json cells = ordered_json::array();
    for (const UnusualCell& cell : row.cells)
      cells.push_back({{"column", run.table().columns[cell.column].name},
                       {"value", value_json(run, cell.column, cell.value)},
                       {"log_density", cell.log_density},
                       {"excess", cell.excess},
                       {"expected", cell_json(run, cell.expected)}});
    list.push_back({{"row", ids[row.row]},
                    {"log_density", row.log_density},
                    {"excess", row.excess},
                    {"cells", std::move(cells)}});
  }
  return list;
}

}  // namespace coppice
