// New rows for a table that was fitted: the same columns, understood as they were then.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "coppice/base/error.hpp"
#include "coppice/data/infer.hpp"
#include "coppice/data/kinds/text_numbers.hpp"
#include "coppice/data/load.hpp"
#include "coppice/data/parse.hpp"

namespace coppice {
namespace {

Codebook codebook_of(const Table& table) {
  Codebook codebook;
  for (const Column& column : table.columns)
    codebook.columns.push_back({column.name, column.kind, column.levels, {}, {}});
  return codebook;
}

/// For each column of the codebook the one whose gaps it marks, if it does.
std::vector<std::optional<std::size_t>> indicator_sources(const Codebook& codebook) {
  std::unordered_map<std::string, std::size_t> sources;
  for (std::size_t i = 0; i < codebook.columns.size(); ++i)
    if (codebook.columns[i].missing == "informative")
      sources.emplace(indicator_name(codebook.columns[i].name), i);
  std::vector<std::optional<std::size_t>> of(codebook.columns.size());
  for (std::size_t i = 0; i < codebook.columns.size() && !sources.empty(); ++i)
    if (const auto found = sources.find(codebook.columns[i].name); found != sources.end())
      of[i] = found->second;
  return of;
}

/// The column as the spec says; its values are moved away.
Column column_like(RawTable& raw, std::size_t index, const ColumnSpec& spec) {
  settle_missing(raw.columns[index], spec.missing_values);
  settle_numbers(raw, index, &spec, {});
  Column column = typed_column(raw, index, &spec, kLikeRemedy);
  column.dates = text::parse_date_unit(spec.unit);
  return column;
}

/// Puts the columns that are made from gaps in their places.
void fill_indicators(Table& table, const std::vector<std::optional<std::size_t>>& sources) {
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (sources[i]) table.columns[i] = indicator_of(table.columns[*sources[i]]);
}

/// The file's column for each fitted column that is not made from another; none if a sparse file does not
/// mention it.
std::vector<std::optional<std::size_t>> match_columns(const RawTable& raw, const Codebook& fitted,
                                                      const std::vector<std::optional<std::size_t>>& sources,
                                                      std::optional<std::size_t> id) {
  const auto positions = positions_of(raw);
  std::vector<std::optional<std::size_t>> matched;
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < raw.columns.size(); ++i)
    if (id != i && raw.label != i) free.push_back(i);
  std::vector<std::string> missing;
  std::size_t wanted = 0;
  for (std::size_t i = 0; i < fitted.columns.size(); ++i) {
    matched.emplace_back();
    if (sources[i]) continue;
    ++wanted;
    const auto found = positions.find(fitted.columns[i].name);
    if (found != positions.end() && id != found->second) matched[i] = found->second;
    if (!matched[i]) missing.push_back(fitted.columns[i].name);
  }
  if (missing.empty() || raw.absent_is_zero) return matched;
  if (raw.has_header)
    fail(ErrorCode::bad_data, "{}:1: column '{}' of the fitted data is not in the file; add it ({})",
         raw.file, text::display(missing.front()), text::suggest(missing.front(), names_of(raw)));
  if (free.size() != wanted)
    fail(ErrorCode::bad_data,
         "{}:1: column '{}' of the fitted data cannot be found: the file has no header and {} columns where "
         "{} were fitted; add "
         "a header row",
         raw.file, text::display(missing.front()), free.size(), wanted);
  for (std::size_t i = 0, next = 0; i < matched.size(); ++i)
    if (!sources[i]) matched[i] = free[next++];
  return matched;
}

}  // namespace

Table read_like_bytes(std::string_view bytes, const std::string& name, const Codebook& fitted,
                      const std::string& id, bool id_required) {
  const std::vector<std::optional<std::size_t>> sources = indicator_sources(fitted);
  CsvOptions csv;
  for (std::size_t i = 0; i < fitted.columns.size(); ++i)
    if (!sources[i]) csv.expected_names.push_back(fitted.columns[i].name);
  std::optional<std::size_t> id_column;
  std::vector<std::optional<std::size_t>> matched;
  RawTable raw = parse_table(bytes, name, csv, [&](RawTable& table) {
    Roles roles;
    ReadOptions only_id;
    only_id.id = id;
    only_id.as_in_a_fit = true;
    only_id.id_may_be_absent = !id_required;
    roles.assign(table, only_id);
    id_column = roles.id;
    matched = match_columns(table, fitted, sources, id_column);
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      if (id_column != i) table.columns[i].want = Want::nothing;
    for (std::size_t i = 0; i < matched.size(); ++i) {
      if (!matched[i]) continue;
      RawColumn& column = table.columns[*matched[i]];
      column.name = fitted.columns[i].name;
      column.want = want_of(fitted.columns[i], true);
      column.declared_levels = fitted.columns[i].levels;
    }
  });
  Table table;
  table.row_ids = row_ids_of(raw, id_column);
  for (std::size_t i = 0; i < matched.size(); ++i) {
    const ColumnSpec& spec = fitted.columns[i];
    if (matched[i])
      table.columns.push_back(column_like(raw, *matched[i], spec));
    else
      table.columns.push_back({spec.name, spec.kind, std::vector<double>(raw.rows, 0.0), spec.levels});
  }
  fill_indicators(table, sources);
  return table;
}

Table read_like(const std::string& path, const Codebook& fitted, const std::string& id, bool id_required) {
  const FileBytes bytes = load_file(path);
  return read_like_bytes(bytes.view(), path == "-" ? "stdin" : path, fitted, id, id_required);
}

Table read_like_bytes(std::string_view bytes, const std::string& name, const Table& fitted,
                      const std::string& id, bool id_required) {
  return read_like_bytes(bytes, name, codebook_of(fitted), id, id_required);
}

Table read_like(const std::string& path, const Table& fitted, const std::string& id, bool id_required) {
  return read_like(path, codebook_of(fitted), id, id_required);
}

Table table_like(RawTable raw, const Codebook& fitted) {
  const std::vector<std::optional<std::size_t>> sources = indicator_sources(fitted);
  const auto positions = positions_of(raw);
  std::size_t wanted = 0;
  bool all_named = true;
  for (std::size_t i = 0; i < fitted.columns.size(); ++i) {
    if (sources[i]) continue;
    ++wanted;
    all_named = all_named && positions.contains(fitted.columns[i].name);
  }
  // Columns that were left out of the fit may be there again, but then names must say which those are.
  if (raw.columns.size() != wanted && !(all_named && raw.columns.size() > wanted))
    fail(ErrorCode::usage, "{}: {} columns where {} were fitted", raw.file, raw.columns.size(), wanted);
  Table table;
  table.row_ids = row_ids_of(raw, std::nullopt);
  for (std::size_t i = 0, next = 0; i < fitted.columns.size(); ++i) {
    const ColumnSpec& spec = fitted.columns[i];
    if (sources[i]) {
      table.columns.push_back({spec.name, spec.kind, {}, {}});
      continue;
    }
    const std::size_t index = all_named ? positions.at(spec.name) : next++;
    raw.columns[index].name = spec.name;
    raw.columns[index].want = want_of(spec, true);
    raw.columns[index].declared_levels = spec.levels;
    settle_wanted(raw, index);
    table.columns.push_back(column_like(raw, index, spec));
  }
  fill_indicators(table, sources);
  return table;
}

Table table_like(RawTable raw, const Table& fitted) {
  return table_like(std::move(raw), codebook_of(fitted));
}

}  // namespace coppice
