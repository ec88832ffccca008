#include "coppice/run/in_memory.hpp"

#include <fmt/format.h>

#include <optional>

#include "coppice/base/close_names.hpp"
#include "coppice/base/error.hpp"
#include "coppice/data/row_weights.hpp"
#include "coppice/data/transform.hpp"
#include "coppice/family/adopt_kinds.hpp"

namespace coppice {
namespace {

/// What weights are called that have no column.
constexpr const char* kMemoryWeights = "sample_weight";

RawColumn column_of(const MemoryTable& table, std::string name, std::vector<double> values) {
  if (values.size() != table.raw.rows)
    fail(ErrorCode::usage, "column '{}' has {} cells where {} rows are", name, values.size(), table.raw.rows);
  RawColumn column;
  column.name = std::move(name);
  column.values = std::move(values);
  return column;
}

RawTable with_places(const MemoryTable& table) {
  RawTable raw = table.raw;
  raw.locate = [&table](std::size_t row, std::size_t column) { return place_of(table, row, column); };
  return raw;
}

}  // namespace

MemoryTable start_memory_table(const std::string& name, std::vector<std::string> row_ids) {
  MemoryTable table;
  table.raw.file = name;
  table.raw.rows = row_ids.size();
  table.raw.has_header = true;
  table.row_ids = std::move(row_ids);
  return table;
}

void add_numbers(MemoryTable& table, std::string name, std::vector<double> values) {
  table.raw.columns.push_back(column_of(table, std::move(name), std::move(values)));
}

void add_texts(MemoryTable& table, std::string name, std::vector<double> codes,
               std::vector<std::string> levels) {
  RawColumn column = column_of(table, std::move(name), std::move(codes));
  column.is_text = true;
  column.levels = std::move(levels);
  for (const double code : column.values)
    if (!is_missing(code) && !(code >= 0.0 && code < static_cast<double>(column.levels.size())))
      fail(ErrorCode::usage, "column '{}' has the code {} and {} levels", column.name, code,
           column.levels.size());
  table.raw.columns.push_back(std::move(column));
}

Place place_of(const MemoryTable& table, std::size_t row, std::size_t column) {
  const RawColumn& cells = table.raw.columns[column];
  const double value = cells.values[row];
  return {fmt::format("row {}", table.row_ids[row]),
          cells.is_text ? cells.levels[static_cast<std::size_t>(value)] : fmt::format("{}", value)};
}

Dataset read_memory(const MemoryTable& table, const MemoryReading& reading) {
  ReadOptions options;
  options.rules = kind_rules();
  options.plain_features = reading.labels != nullptr;
  options.family_is_named = reading.family_is_named;
  Codebook codebook;
  if (!reading.codebook.empty()) {
    codebook = parse_codebook(reading.codebook, "codebook");
    codebook.source.clear();
    options.codebook = &codebook;
  }
  Dataset data = dataset_of(with_places(table), options);
  data.table.row_ids = table.row_ids;
  if (!reading.weights.empty()) {
    if (reading.weights.size() != data.table.rows())
      fail(ErrorCode::usage, "{} has {} weights where {} rows are", kMemoryWeights, reading.weights.size(),
           data.table.rows());
    check_weights(reading.weights, kMemoryWeights);
    data.weights.columns.push_back({kMemoryWeights, Kind::count, reading.weights, {}});
    data.weights.row_ids = data.table.row_ids;
  }
  if (reading.labels != nullptr) {
    take_bits_for_counts(data, codebook);
    data.labels = *reading.labels;
  }
  return data;
}

Table rows_like(const MemoryTable& table, const RunContents& contents) {
  return apply(transform_from_json(contents.transform),
               table_like(with_places(table), contents.input_codebook));
}

Table new_rows(const SavedRun& run, const MemoryTable& table) { return rows_like(table, run.contents()); }

Settings checked_settings(std::span<const Parameter> table, const TypedSettings& typed,
                          const std::string& model) {
  Settings settings;
  for (const auto& [name, text] : typed) {
    const Parameter* found = find_parameter(table, name);
    if (found == nullptr) {
      std::vector<std::string> names;
      for (const Parameter& parameter : table) names.push_back(parameter.name);
      const std::string question = did_you_mean(name, names);
      fail(ErrorCode::usage, "{} has no parameter '{}'{}{}", model, name, question.empty() ? "" : "; ",
           question);
    }
    const std::optional<Setting> meant = parse_parameter(*found, name, text);
    if (meant && !settings.emplace(found->name, *meant).second)
      fail(ErrorCode::usage, "{} is given twice, once under an earlier name", found->name);
  }
  return settings;
}

Settings family_settings_of(const TypedSettings& typed) {
  Settings settings;
  for (const auto& [name, toml] : typed) settings.insert_or_assign(name, parse_setting(toml));
  return settings;
}

}  // namespace coppice
