// The readers' front for whole tables: bytes, then a raw table from the parser of the format, then roles and
// kinds.
#include "coppice/data/read.hpp"

#include <algorithm>
#include <utility>

#include "coppice/data/digest.hpp"
#include "coppice/data/load.hpp"
#include "coppice/data/parse.hpp"
#include "coppice/data/table_blob.hpp"

namespace coppice {

Dataset dataset_of(RawTable raw, const ReadOptions& options) {
  Roles roles;
  roles.assign(raw, options);
  for (std::size_t index = 0; index < raw.columns.size(); ++index) settle_wanted(raw, index);
  Dataset data = assemble(std::move(raw), roles, options);
  data.digest = sha256_hex(serialize(data.table));
  return data;
}

void take_bits_for_counts(Dataset& data, const Codebook& told) {
  const bool counts = std::any_of(data.table.columns.begin(), data.table.columns.end(),
                                  [](const Column& column) { return column.kind == Kind::count; });
  for (std::size_t j = 0; counts && j < data.table.columns.size(); ++j) {
    Column& column = data.table.columns[j];
    if (column.kind != Kind::binary || !column.levels.empty() || told.find(column.name) != nullptr) continue;
    column.kind = Kind::count;
    data.codebook.columns[j].kind = Kind::count;
  }
}

Dataset read_dataset_bytes(std::string_view bytes, const std::string& name, const ReadOptions& options) {
  Roles roles;
  CsvOptions csv;
  csv.header = options.header;
  std::string digest = sha256_hex(bytes);
  Dataset data = assemble(parse_table(bytes, name, csv, [&](RawTable& raw) { roles.assign(raw, options); }),
                          roles, options);
  data.digest = std::move(digest);
  return data;
}

Dataset read_dataset(const std::string& path, const ReadOptions& options) {
  const FileBytes bytes = load_file(path);
  return read_dataset_bytes(bytes.view(), path == "-" ? "stdin" : path, options);
}

}  // namespace coppice
