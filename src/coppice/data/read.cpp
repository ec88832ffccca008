// The readers' front: bytes, then a raw table from the parser of the format, then roles and kinds.
#include "coppice/data/read.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "coppice/base/error.hpp"
#include "coppice/data/csv.hpp"
#include "coppice/data/decompress.hpp"
#include "coppice/data/digest.hpp"
#include "coppice/data/infer.hpp"
#include "coppice/data/load.hpp"
#include "coppice/data/npy.hpp"
#include "coppice/data/raw_table.hpp"
#include "coppice/data/svmlight.hpp"
#include "coppice/data/table_blob.hpp"

namespace coppice {
namespace {

constexpr std::string_view kDatasetRemedy =
    "correct it, leave the cell empty, or add it to the levels in the codebook";
constexpr std::string_view kLikeRemedy =
    "correct it or leave the cell empty: the model has not seen other levels";

// Parses the bytes in the format of the name. `choose` sees the columns before any cell of a CSV is read,
// after all of them in the other formats; either way the columns come back as it wants them.
RawTable parse(std::string_view bytes, const std::string& name, CsvOptions options, const Chooser& choose) {
  const FileFormat format = format_of_name(name);
  const Compression compression = detect_compression(bytes);
  if (format.gzip_name && compression != Compression::gzip && !bytes.empty())
    fail(ErrorCode::bad_data,
         "{}: the name ends in .gz but the content is not gzip; fetch or rename the file", name);
  if (format.zstd_name && compression != Compression::zstd && !bytes.empty())
    fail(ErrorCode::bad_data,
         "{}: the name ends in .zst but the content is not zstd; fetch or rename the file", name);
  std::shared_ptr<const std::string> plain;
  if (compression != Compression::none) {
    plain = std::make_shared<const std::string>(decompress(bytes, compression, name));
    bytes = *plain;
  }
  RawTable raw;
  const bool is_npy = format.format == Format::npy || bytes.starts_with(kNpyMagic);
  if (is_npy || format.format == Format::svmlight) {
    raw = is_npy ? parse_npy(bytes, name) : parse_svmlight(bytes, name);
    choose(raw);
    for (RawColumn& column : raw.columns)
      if (!column.is_text && (column.want == Want::text || column.want == Want::identity))
        numbers_to_text(column);
  } else {
    options.delimiter = format.delimiter;
    options.prefer_comma = format.prefer_comma;
    raw = parse_csv(bytes, name, options, choose);
  }
  // The plain bytes live as long as the way back to them.
  if (plain != nullptr)
    raw.locate = [inner = std::move(raw.locate), plain](std::size_t i, std::size_t j) { return inner(i, j); };
  return raw;
}

std::vector<std::string> names_of(const RawTable& raw) {
  std::vector<std::string> names;
  for (const RawColumn& column : raw.columns) names.push_back(column.name);
  return names;
}

std::unordered_map<std::string, std::size_t> positions_of(const RawTable& raw) {
  std::unordered_map<std::string, std::size_t> positions;
  for (std::size_t i = 0; i < raw.columns.size(); ++i) positions.emplace(raw.columns[i].name, i);
  return positions;
}

std::vector<std::string> row_ids_of(RawTable& raw, std::optional<std::size_t> id) {
  std::vector<std::string> ids;
  if (!id) {
    ids.reserve(raw.rows);
    for (std::size_t row = 1; row <= raw.rows; ++row) ids.push_back(std::to_string(row));
    return ids;
  }
  RawColumn& column = raw.columns[*id];
  for (std::size_t row = 0; row < raw.rows; ++row) {
    if (is_missing(column.values[row])) raw.fail_cell(row, *id, "is not a row id; give every row one");
    const auto code = static_cast<std::size_t>(column.values[row]);
    // Texts are numbered as they appear, so the first code that is not new is a repetition.
    if (code == row) continue;
    raw.fail_cell(
        row, *id,
        fmt::format("is already the id of {}; give every row its own", raw.locate(code, *id).where));
  }
  return std::move(column.levels);
}

Want want_of(const ColumnSpec& spec, bool strict) {
  switch (spec.kind) {
    case Kind::real:
    case Kind::count:
      return Want::number;
    case Kind::binary:
      if (!spec.levels.empty()) return Want::text;
      return strict ? Want::number : Want::automatic;
    case Kind::category:
      break;
  }
  return Want::text;
}

// What each column of the file is for, from the options of the caller.
struct Roles {
  std::optional<std::size_t> id;
  std::vector<std::size_t> truth;
  std::vector<std::size_t> labels;
  std::vector<const ColumnSpec*> specs;  // of the data columns; nullptr: inferred

  /// The columns that "label_*" stands for, or the one of that name.
  static std::vector<std::string> matching(const std::string& name, const RawTable& raw, bool may_be_absent) {
    if (!name.ends_with('*')) return {name};
    std::vector<std::string> names;
    for (const RawColumn& column : raw.columns)
      if (column.name.starts_with(std::string_view(name).substr(0, name.size() - 1)))
        names.push_back(column.name);
    if (names.empty() && !may_be_absent)
      fail(ErrorCode::configuration, "--labels {}: no column of {} begins so", text::display(name), raw.file);
    return names;
  }

  void assign(RawTable& raw, const ReadOptions& options) {
    const auto positions = positions_of(raw);
    std::vector<std::string_view> role(raw.columns.size());
    const auto claim = [&](const std::string& name, std::string_view flag) {
      const auto found = positions.find(name);
      if (found == positions.end())
        fail(ErrorCode::configuration, "{} {}: {} has no such column; {}", flag, text::display(name),
             raw.file, text::suggest(name, names_of(raw)));
      std::string_view& taken = role[found->second];
      if (!taken.empty() && taken != flag)
        fail(ErrorCode::configuration, "{} {}: the column of {} is named by {} too; choose one", flag,
             text::display(name), raw.file, taken);
      const bool fresh = taken.empty();
      taken = flag;
      return fresh ? std::optional(found->second) : std::nullopt;
    };
    const auto is_wanted = [&](const std::string& name) {
      return !options.as_in_a_fit || positions.contains(name);
    };
    for (const std::string& name : options.drop)
      if (is_wanted(name))
        if (const auto column = claim(name, "--drop")) raw.columns[*column].want = Want::nothing;
    if (!options.id.empty() && (positions.contains(options.id) || !options.id_may_be_absent)) {
      if (options.as_in_a_fit && !positions.contains(options.id))
        fail(ErrorCode::configuration, "{}: there is no column '{}' of row names; {}", raw.file,
             text::display(options.id), text::suggest(options.id, names_of(raw)));
      id = claim(options.id, "--id");
      raw.columns[*id].want = Want::identity;
    }
    for (const std::string& name : options.labels) {
      if (name.empty()) {
        if (raw.label) role[*raw.label] = "--labels";
        continue;
      }
      for (const std::string& one : matching(name, raw, options.labels_may_be_absent)) {
        if (options.labels_may_be_absent && !positions.contains(one)) continue;
        if (name.ends_with('*') && one == options.id) continue;  // which all others are told apart by
        if (const auto column = claim(one, "--labels")) labels.push_back(*column);
      }
    }
    std::vector<std::string> known;
    std::copy_if(options.truth.begin(), options.truth.end(), std::back_inserter(known), is_wanted);
    if (raw.label && role[*raw.label].empty()) known.push_back(raw.columns[*raw.label].name);
    for (const std::string& name : known) {
      if (const auto column = claim(name, "--truth")) {
        raw.columns[*column].want = Want::text;
        truth.push_back(*column);
      }
    }
    specs.assign(raw.columns.size(), nullptr);
    if (options.codebook == nullptr) return;
    for (const ColumnSpec& spec : options.codebook->columns) {
      const auto found = positions.find(spec.name);
      if (found == positions.end())
        fail(ErrorCode::bad_data, "{}: column '{}' of the codebook{} is not in the data; {}", raw.file,
             text::display(spec.name),
             options.codebook->source.empty() ? "" : fmt::format(" {}", options.codebook->source),
             text::suggest(spec.name, names_of(raw)));
      if (!role[found->second].empty()) continue;
      specs[found->second] = &spec;
      raw.columns[found->second].want = want_of(spec, false);
      raw.columns[found->second].declared_levels = spec.levels;
    }
  }
};

bool all_missing(const RawColumn& column) {
  return std::all_of(column.values.begin(), column.values.end(), is_missing);
}

bool is_constant(const std::vector<double>& values) {
  double first = kMissing;
  for (const double value : values) {
    if (is_missing(value)) continue;
    if (is_missing(first)) first = value;
    if (value != first) return false;
  }
  return true;
}

void add_note(std::vector<std::string>& notes, const std::vector<std::string>& names, std::string_view one,
              std::string_view many) {
  if (names.size() == 1) notes.push_back(fmt::format("column {} {}", text::list_names(names), one));
  if (names.size() > 1)
    notes.push_back(fmt::format("{} columns {}: {}", names.size(), many, text::list_names(names)));
}

/// A column that is learned: present or absent, or not known.
Column label_column(RawTable& raw, std::size_t index) {
  Column column = typed_column(raw, index, nullptr, kDatasetRemedy);
  const bool is_constant_number = column.kind == Kind::count || column.kind == Kind::real;
  const bool is_yes_or_no = std::all_of(column.values.begin(), column.values.end(), [](double value) {
    return is_missing(value) || value == 0.0 || value == 1.0;
  });
  if (column.kind != Kind::binary && !(is_constant_number && is_yes_or_no))
    fail(ErrorCode::bad_data,
         "{}: column '{}': a label is 0 or 1, or yes or no; give each of several values a column of its own",
         raw.file, text::display(column.name));
  column.kind = Kind::binary;
  return column;
}

/// The labels that a format keeps in one text, "3,23,61", as a column each, in numeric order.
void split_labels(const RawTable& raw, std::size_t index, Table& labels) {
  const RawColumn& source = raw.columns[index];
  std::vector<std::vector<std::string>> parts;
  std::vector<std::string> names;
  for (const std::string& level : source.levels) {
    parts.emplace_back();
    for (std::size_t at = 0; at <= level.size();) {
      const std::size_t end = std::min(level.find(',', at), level.size());
      if (end > at) parts.back().push_back(level.substr(at, end - at));
      at = end + 1;
    }
    names.insert(names.end(), parts.back().begin(), parts.back().end());
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  names = sorted_levels(std::move(names));
  std::unordered_map<std::string, std::size_t> place;
  for (const std::string& name : names) {
    place.emplace(name, labels.columns.size());
    labels.columns.push_back({name, Kind::binary, std::vector<double>(raw.rows, 0.0), {}});
  }
  for (std::size_t row = 0; row < raw.rows; ++row)
    if (!is_missing(source.values[row]))
      for (const std::string& name : parts[static_cast<std::size_t>(source.values[row])])
        labels.columns[place.at(name)].values[row] = 1.0;
}

Dataset assemble(RawTable raw, const Roles& roles, const ReadOptions& options) {
  const bool splits_labels = std::count(options.labels.begin(), options.labels.end(), "") > 0;
  Dataset data;
  data.notes = std::move(raw.notes);
  data.table.row_ids = row_ids_of(raw, roles.id);
  for (const std::size_t index : roles.truth) {
    if (all_missing(raw.columns[index]))
      fail(ErrorCode::bad_data, "--truth {}: every cell of that column of {} is empty; name another",
           text::display(raw.columns[index].name), raw.file);
    const ColumnSpec any_text{raw.columns[index].name, Kind::category, {}, {}, {}};
    data.truth.columns.push_back(typed_column(raw, index, &any_text, kDatasetRemedy));
  }
  if (!roles.truth.empty()) data.truth.row_ids = data.table.row_ids;
  for (const std::size_t index : roles.labels) data.labels.columns.push_back(label_column(raw, index));
  if (splits_labels && raw.label) split_labels(raw, *raw.label, data.labels);
  if (!data.labels.columns.empty()) data.labels.row_ids = data.table.row_ids;
  std::vector<std::string> empty;
  std::vector<std::string> constant;
  std::vector<std::string> identifying;
  for (std::size_t index = 0; index < raw.columns.size(); ++index) {
    const RawColumn& column = raw.columns[index];
    const bool has_role = roles.id == index ||
                          std::count(roles.truth.begin(), roles.truth.end(), index) > 0 ||
                          std::count(roles.labels.begin(), roles.labels.end(), index) > 0 ||
                          (splits_labels && raw.label == index);
    if (column.want == Want::nothing || has_role) continue;
    const ColumnSpec* spec = roles.specs[index];
    if (all_missing(column)) {
      empty.push_back(column.name);
      continue;
    }
    if (spec == nullptr && column.is_text && column.levels.size() > std::max<std::size_t>(20, raw.rows / 2)) {
      identifying.push_back(column.name);
      continue;
    }
    Column typed = typed_column(raw, index, spec, kDatasetRemedy);
    if (is_constant(typed.values)) constant.push_back(typed.name);
    data.codebook.columns.push_back({typed.name, typed.kind, typed.levels,
                                     spec != nullptr ? spec->family : "",
                                     spec != nullptr ? spec->settings : Settings{}});
    data.table.columns.push_back(std::move(typed));
  }
  add_note(data.notes, empty, "is left out: every cell is missing",
           "are left out because every cell is missing");
  add_note(data.notes, identifying,
           "is left out: nearly every row has its own text, so it looks like an identifier; use it with "
           "--id, or --drop it",
           "are left out because nearly every row has its own text (use one with --id, or --drop them)");
  add_note(data.notes, constant, "is constant", "are constant");
  if (data.table.columns.empty() && data.labels.columns.empty() && !options.labels_only)
    fail(ErrorCode::bad_data, "{}: no column of data is left{}{}; keep at least one", raw.file,
         data.notes.empty() ? "" : ": ", data.notes.empty() ? "" : data.notes.back());
  return data;
}

// The file's column for each fitted column; none if a sparse file does not mention it.
std::vector<std::optional<std::size_t>> match_columns(const RawTable& raw, const Table& fitted,
                                                      std::optional<std::size_t> id) {
  const auto positions = positions_of(raw);
  std::vector<std::optional<std::size_t>> matched;
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < raw.columns.size(); ++i)
    if (id != i && raw.label != i) free.push_back(i);
  std::vector<std::string> missing;
  for (const Column& column : fitted.columns) {
    const auto found = positions.find(column.name);
    matched.push_back(found == positions.end() || id == found->second ? std::nullopt
                                                                      : std::optional(found->second));
    if (!matched.back()) missing.push_back(column.name);
  }
  if (missing.empty() || raw.absent_is_zero) return matched;
  if (raw.has_header)
    fail(ErrorCode::bad_data, "{}:1: column '{}' of the fitted data is not in the file; add it ({})",
         raw.file, text::display(missing.front()), text::suggest(missing.front(), names_of(raw)));
  if (free.size() != fitted.columns.size())
    fail(ErrorCode::bad_data,
         "{}:1: column '{}' of the fitted data cannot be found: the file has no header and {} columns where "
         "{} were fitted; add "
         "a header row",
         raw.file, text::display(missing.front()), free.size(), fitted.columns.size());
  matched.assign(free.begin(), free.end());
  return matched;
}

// Brings a column that was not read from a text into the form that is wanted.
void settle_wanted(RawTable& raw, std::size_t index) {
  RawColumn& column = raw.columns[index];
  if (column.is_text) {
    if (column.want == Want::number)
      for (std::size_t row = 0; row < raw.rows; ++row)
        if (!is_missing(column.values[row])) raw.fail_cell(row, index, "is not a number");
    if (column.declared_levels.empty()) return;
    // Declared levels come first, as where texts are read.
    std::vector<std::string> levels = column.declared_levels;
    std::vector<double> code;
    for (const std::string& level : column.levels) {
      const auto known = std::find(levels.begin(), levels.end(), level);
      code.push_back(static_cast<double>(known - levels.begin()));
      if (known == levels.end()) levels.push_back(level);
    }
    for (double& value : column.values)
      if (!is_missing(value)) value = code[static_cast<std::size_t>(value)];
    column.levels = std::move(levels);
    return;
  }
  for (std::size_t row = 0; row < raw.rows; ++row)
    if (std::isinf(column.values[row])) raw.fail_cell(row, index, "is infinite; leave the cell empty");
  if (column.want == Want::text || column.want == Want::identity) numbers_to_text(column);
}

}  // namespace

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

Table table_like(RawTable raw, const Table& fitted) {
  if (raw.columns.size() != fitted.columns.size())
    fail(ErrorCode::usage, "{}: {} columns where {} were fitted", raw.file, raw.columns.size(),
         fitted.columns.size());
  Table table;
  table.row_ids = row_ids_of(raw, std::nullopt);
  for (std::size_t index = 0; index < raw.columns.size(); ++index) {
    const Column& known = fitted.columns[index];
    const ColumnSpec spec{known.name, known.kind, known.levels, {}, {}};
    raw.columns[index].name = known.name;
    raw.columns[index].want = want_of(spec, true);
    raw.columns[index].declared_levels = known.levels;
    settle_wanted(raw, index);
    table.columns.push_back(typed_column(raw, index, &spec, kLikeRemedy));
  }
  return table;
}

Dataset read_dataset_bytes(std::string_view bytes, const std::string& name, const ReadOptions& options) {
  Roles roles;
  CsvOptions csv;
  csv.header = options.header;
  std::string digest = sha256_hex(bytes);
  Dataset data =
      assemble(parse(bytes, name, csv, [&](RawTable& raw) { roles.assign(raw, options); }), roles, options);
  data.digest = std::move(digest);
  return data;
}

Dataset read_dataset(const std::string& path, const ReadOptions& options) {
  const FileBytes bytes = load_file(path);
  return read_dataset_bytes(bytes.view(), path == "-" ? "stdin" : path, options);
}

Table read_like_bytes(std::string_view bytes, const std::string& name, const Table& fitted,
                      const std::string& id, bool id_required) {
  std::vector<ColumnSpec> specs;
  CsvOptions csv;
  for (const Column& column : fitted.columns) {
    specs.push_back({column.name, column.kind, column.levels, {}, {}});
    csv.expected_names.push_back(column.name);
  }
  std::optional<std::size_t> id_column;
  std::vector<std::optional<std::size_t>> matched;
  RawTable raw = parse(bytes, name, csv, [&](RawTable& table) {
    Roles roles;
    ReadOptions only_id;
    only_id.id = id;
    only_id.as_in_a_fit = true;
    only_id.id_may_be_absent = !id_required;
    roles.assign(table, only_id);
    id_column = roles.id;
    matched = match_columns(table, fitted, id_column);
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      if (id_column != i) table.columns[i].want = Want::nothing;
    for (std::size_t i = 0; i < matched.size(); ++i) {
      if (!matched[i]) continue;
      RawColumn& column = table.columns[*matched[i]];
      column.name = specs[i].name;
      column.want = want_of(specs[i], true);
      column.declared_levels = specs[i].levels;
    }
  });
  Table table;
  table.row_ids = row_ids_of(raw, id_column);
  for (std::size_t i = 0; i < matched.size(); ++i) {
    if (matched[i])
      table.columns.push_back(typed_column(raw, *matched[i], &specs[i], kLikeRemedy));
    else
      table.columns.push_back(
          {specs[i].name, specs[i].kind, std::vector<double>(raw.rows, 0.0), specs[i].levels});
  }
  return table;
}

Table read_like(const std::string& path, const Table& fitted, const std::string& id, bool id_required) {
  const FileBytes bytes = load_file(path);
  return read_like_bytes(bytes.view(), path == "-" ? "stdin" : path, fitted, id, id_required);
}

}  // namespace coppice
