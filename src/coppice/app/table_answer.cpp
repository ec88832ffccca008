#include "coppice/app/table_answer.hpp"

#include <cstdint>

#include "coppice/out/csv.hpp"

namespace coppice::app {
namespace {

using nlohmann::ordered_json;

ordered_json cell_json(const Column& column, std::size_t row) {
  if (is_missing(column.values[row])) return nullptr;
  if (!column.levels.empty() || column.dates) return column.text(row);
  if (column.kind == Kind::real) return column.values[row];
  return static_cast<std::int64_t>(column.values[row]);
}

ordered_json to_json(const Table& table) {
  ordered_json list = ordered_json::array();
  for (std::size_t row = 0; row < table.rows(); ++row) {
    ordered_json cells = ordered_json::object();
    for (const Column& column : table.columns) cells[column.name] = cell_json(column, row);
    list.push_back({{"row", table.row_ids[row]}, {"cells", std::move(cells)}});
  }
  return list;
}

}  // namespace

void write_table_answer(const std::string& path, const Table& table, const Context& context) {
  if (context.json) {
    write_json(path, to_json(table));
    return;
  }
  std::string text;
  CsvWriter writer(&text);
  writer.protect_texts(context.csv_safe);
  write_table(writer, table);
  writer.close();
  write_output(path, text);
}

}  // namespace coppice::app
