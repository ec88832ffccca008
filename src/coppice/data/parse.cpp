// From bytes to raw columns with roles.
#include "coppice/data/parse.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "coppice/base/error.hpp"
#include "coppice/data/arrow_file.hpp"
#include "coppice/data/decompress.hpp"
#include "coppice/data/infer.hpp"
#include "coppice/data/kinds/text_numbers.hpp"
#include "coppice/data/load.hpp"
#include "coppice/data/npy.hpp"
#include "coppice/data/row_weights.hpp"
#include "coppice/data/svmlight.hpp"

namespace coppice {

RawTable parse_table(std::string_view bytes, const std::string& name, CsvOptions options,
                     const Chooser& choose) {
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
  const bool is_arrow = !is_npy && (format.format == Format::arrow || is_arrow_file(bytes));
  if (is_npy || is_arrow || format.format == Format::svmlight) {
    raw = is_npy     ? parse_npy(bytes, name)
          : is_arrow ? parse_arrow_file(bytes, name)
                     : parse_svmlight(bytes, name);
    choose(raw);
    for (std::size_t index = 0; index < raw.columns.size(); ++index) settle_wanted(raw, index);
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

namespace {

/// The columns that match "label_*", or the one of that name.
std::vector<std::string> matching(const std::string& name, const RawTable& raw, bool may_be_absent) {
  if (!name.ends_with('*')) return {name};
  std::vector<std::string> names;
  for (const RawColumn& column : raw.columns)
    if (column.name.starts_with(std::string_view(name).substr(0, name.size() - 1)))
      names.push_back(column.name);
  if (names.empty() && !may_be_absent)
    fail(ErrorCode::configuration, "--labels {}: no column of {} begins so", text::display(name), raw.file);
  return names;
}

}  // namespace

void Roles::assign(RawTable& raw, const ReadOptions& options) {
  const auto positions = positions_of(raw);
  std::vector<std::string_view> role(raw.columns.size());
  const auto claim = [&](const std::string& name, std::string_view flag) {
    const auto found = positions.find(name);
    if (found == positions.end())
      fail(ErrorCode::configuration, "{} {}: {} has no such column; {}", flag, text::display(name), raw.file,
           text::suggest(name, names_of(raw)));
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
  const auto drop = [&](const std::string& name) {
    if (is_wanted(name))
      if (const auto column = claim(name, "--drop")) raw.columns[*column].want = Want::nothing;
  };
  for (const std::string& name : options.drop) {
    // A comma may belong to the name of a column; otherwise it separates names.
    std::size_t begin = 0;
    while (!positions.contains(name) && name.find(',', begin) != std::string::npos) {
      const std::size_t end = name.find(',', begin);
      drop(name.substr(begin, end - begin));
      begin = end + 1;
    }
    drop(name.substr(begin));
  }
  if (!options.id.empty() && (positions.contains(options.id) || !options.id_may_be_absent)) {
    if (options.as_in_a_fit && !positions.contains(options.id))
      fail(ErrorCode::configuration, "{}: there is no column '{}' of row names; {}", raw.file,
           text::display(options.id), text::suggest(options.id, names_of(raw)));
    id = claim(options.id, "--id");
    raw.columns[*id].want = Want::identity;
  }
  if (!options.weights.empty()) {
    weights = claim(options.weights, "--weights");
    raw.columns[*weights].want = Want::number;
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
  keep.assign(raw.columns.size(), false);
  for (const std::string& name : options.keep) {
    const auto found = positions.find(name);
    if (found == positions.end())
      fail(ErrorCode::configuration, "--keep-column {}: {} has no such column; {}", text::display(name),
           raw.file, text::suggest(name, names_of(raw)));
    if (!role[found->second].empty())
      fail(ErrorCode::configuration, "--keep-column {}: the column of {} is named by {} too; choose one",
           text::display(name), raw.file, role[found->second]);
    keep[found->second] = true;
  }
  if (options.labels_only)
    for (std::size_t i = 0; i < raw.columns.size(); ++i)
      if (role[i].empty()) raw.columns[i].want = Want::nothing;
  specs.assign(raw.columns.size(), nullptr);
  if (options.codebook == nullptr) return;
  for (std::size_t i = 0; i < options.codebook->columns.size(); ++i) {
    const ColumnSpec& spec = options.codebook->columns[i];
    const auto found = positions.find(spec.name);
    if (found == positions.end() && source_of_indicator(*options.codebook, i)) continue;
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

void settle_wanted(RawTable& raw, std::size_t index) {
  RawColumn& column = raw.columns[index];
  if (column.is_text) {
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

/// A column that is learned: present or absent, or not known.
Column label_column(RawTable& raw, std::size_t index, const ReadOptions& options) {
  settle_missing(raw.columns[index], options.na_values);
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

Column weight_column(RawTable& raw, std::size_t index) {
  settle_wanted(raw, index);
  RawColumn& column = raw.columns[index];
  for (std::size_t row = 0; row < raw.rows; ++row)
    if (const std::string problem = why_not_a_weight(column.values[row]); !problem.empty())
      raw.fail_cell(row, index, fmt::format("as a weight {}", problem));
  check_weights(column.values, fmt::format("--weights {}", text::display(column.name)));
  return {column.name, Kind::count, std::move(column.values), {}};
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

std::optional<std::size_t> source_of_indicator(const Codebook& codebook, std::size_t index) {
  for (std::size_t i = 0; i < codebook.columns.size(); ++i)
    if (codebook.columns[i].missing == "informative" &&
        indicator_name(codebook.columns[i].name) == codebook.columns[index].name)
      return i;
  return std::nullopt;
}

Column indicator_of(const Column& column) {
  Column indicator{indicator_name(column.name), Kind::binary, {}, {}};
  indicator.values.reserve(column.values.size());
  for (const double value : column.values) indicator.values.push_back(is_missing(value) ? 1.0 : 0.0);
  return indicator;
}

}  // namespace coppice
