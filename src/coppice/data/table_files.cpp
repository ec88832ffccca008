#include "coppice/data/table_files.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "coppice/base/error.hpp"
#include "coppice/data/digest.hpp"
#include "coppice/data/infer.hpp"
#include "coppice/data/load.hpp"
#include "coppice/data/parse.hpp"
#include "coppice/data/read.hpp"

namespace coppice {
namespace {

/// Texts of a column that are noted for the whole table; columns with more are names of rows.
constexpr std::size_t kMostNotedLevels = 10'000;
/// Other readers understand cells differently: their runs are not read from files here.
constexpr const char* kOwnReader = "coppice";

[[noreturn]] void fail_changed(const std::string& path) {
  fail(ErrorCode::bad_data, "{}: the file has changed since the fit began", path);
}

struct stat state_of(const std::string& path) {
  struct stat state{};
  if (stat(path.c_str(), &state) != 0)
    fail(ErrorCode::cannot_read, "{}: the file of the fit is not there any more ({})", path,
         std::strerror(errno));
  return state;
}

std::int64_t time_of(const struct stat& state) {
  return static_cast<std::int64_t>(state.st_mtim.tv_sec) * 1'000'000'000 + state.st_mtim.tv_nsec;
}

RawTable parse_file(std::string_view bytes, const std::string& path, const ReadOptions& options,
                    Roles& roles) {
  CsvOptions csv;
  csv.header = options.header;
  return parse_table(bytes, path, csv, [&](RawTable& raw) { roles.assign(raw, options); });
}

std::string joined_names(const RawTable& raw) {
  std::string names;
  for (const RawColumn& column : raw.columns) names += (names.empty() ? "" : ", ") + column.name;
  return names;
}

/// Texts of several files under common codes.
class LevelCodes {
 public:
  explicit LevelCodes(const std::vector<std::string>& first) {
    for (const std::string& level : first) code_of(level);
  }
  double code_of(const std::string& level) {
    const auto [place, is_new] = codes_.emplace(level, levels_.size());
    if (is_new) levels_.push_back(level);
    return static_cast<double>(place->second);
  }
  std::vector<std::string> take() { return std::move(levels_); }
  const std::vector<std::string>& levels() const { return levels_; }

 private:
  std::vector<std::string> levels_;
  std::unordered_map<std::string, std::size_t> codes_;
};

void keep_only(RawTable& raw, const std::vector<std::size_t>& rows) {
  for (RawColumn& column : raw.columns) {
    if (column.values.empty()) continue;  // it is not wanted
    std::vector<double> kept;
    kept.reserve(rows.size());
    for (const std::size_t row : rows) kept.push_back(column.values[row]);
    column.values = std::move(kept);
  }
  raw.rows = rows.size();
}

/// One column of all files; texts have the noted levels, whether they occur or not.
RawColumn joined_column(std::vector<RawTable>& pieces, std::size_t index,
                        const std::vector<std::string>& noted) {
  RawColumn all = std::move(pieces.front().columns[index]);
  const bool is_text = std::any_of(pieces.begin(), pieces.end(),
                                   [&](const RawTable& raw) { return raw.columns[index].is_text; }) ||
                       all.is_text || !noted.empty();
  if (is_text && !all.is_text) numbers_to_text(all);
  LevelCodes codes(is_text && !all.declared_levels.empty() ? all.declared_levels : noted);
  for (const std::string& level : noted) codes.code_of(level);
  const auto recoded = [&](const RawColumn& column) {
    std::vector<double> code;
    for (const std::string& level : column.levels) code.push_back(codes.code_of(level));
    std::vector<double> values = column.values;
    for (double& value : values)
      if (!is_missing(value)) value = code[static_cast<std::size_t>(value)];
    return values;
  };
  if (is_text) all.values = recoded(all);
  for (std::size_t piece = 1; piece < pieces.size(); ++piece) {
    RawColumn& column = pieces[piece].columns[index];
    all.leading_zeros = all.leading_zeros || column.leading_zeros;
    if (is_text && !column.is_text) numbers_to_text(column);
    const std::vector<double> values = is_text ? recoded(column) : std::move(column.values);
    all.values.insert(all.values.end(), values.begin(), values.end());
  }
  if (is_text) all.levels = codes.take();
  return all;
}

void append_range(Table& table, const Table& more, std::size_t begin, std::size_t end) {
  if (table.columns.empty())
    for (const Column& column : more.columns)
      table.columns.push_back({column.name, column.kind, {}, column.levels});
  const auto append = [&](auto& to, const auto& from) {
    to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(begin),
              from.begin() + static_cast<std::ptrdiff_t>(end));
  };
  for (std::size_t j = 0; j < table.columns.size(); ++j)
    append(table.columns[j].values, more.columns[j].values);
  append(table.row_ids, more.row_ids);
}

}  // namespace

void TableFiles::add(File file) {
  begins_.push_back(begins_.back() + file.rows);
  files_.push_back(std::move(file));
}

TableFiles::TableFiles(const std::vector<std::string>& paths, const ReadOptions& options) {
  const std::pair<const char*, bool> roles_of_whole_tables[] = {{"--id", !options.id.empty()},
                                                                {"--truth", !options.truth.empty()},
                                                                {"--weights", !options.weights.empty()},
                                                                {"--labels", !options.labels.empty()}};
  for (const auto& [flag, is_given] : roles_of_whole_tables)
    if (is_given)
      fail(ErrorCode::configuration,
           "{} is for a table in one file: rows of several files are named by their numbers, and only --drop "
           "sets columns apart",
           flag);
  std::string first_names;
  std::vector<LevelCodes> noted;
  for (const std::string& path : paths) {
    if (path == "-") fail(ErrorCode::usage, "-: a table in several files cannot be read from stdin");
    const FileBytes bytes = load_file(path);
    Roles roles;
    const RawTable raw = parse_file(bytes.view(), path, options, roles);
    const std::string names = joined_names(raw);
    if (files_.empty()) {
      first_names = names;
      noted.resize(raw.columns.size(), LevelCodes({}));
    }
    if (names != first_names)
      fail(ErrorCode::bad_data, "{}: its columns are {}, but those of {} are {}", path, names, paths.front(),
           first_names);
    for (std::size_t j = 0; j < raw.columns.size(); ++j) {
      const std::vector<std::string>& levels = raw.columns[j].levels;
      for (std::size_t k = 0; k < levels.size() && noted[j].levels().size() < kMostNotedLevels; ++k)
        noted[j].code_of(levels[k]);
    }
    std::error_code problem;
    const std::filesystem::path absolute = std::filesystem::absolute(path, problem);
    add({problem ? path : absolute.string(), sha256_hex(bytes.view()), raw.rows});
  }
  for (LevelCodes& codes : noted) levels_.push_back(codes.take());
}

std::optional<TableFiles> TableFiles::of_run(std::string_view source) {
  const nlohmann::json list = nlohmann::json::parse(source, nullptr, false);
  if (!list.is_array() || list.empty()) return std::nullopt;
  TableFiles files;
  for (const nlohmann::json& one : list) {
    if (!one.is_object() || one.value("reader", "") != kOwnReader) return std::nullopt;
    try {
      files.add({one.at("file").get<std::string>(), one.at("sha256").get<std::string>(),
                 one.at("rows").get<std::uint64_t>()});
    } catch (const nlohmann::json::exception&) {
      fail(ErrorCode::bad_data, "the run file is damaged: it does not say what its rows were read from");
    }
  }
  return files;
}

std::string TableFiles::source() const {
  nlohmann::json list = nlohmann::json::array();
  for (const File& file : files_)
    list.push_back(
        {{"file", file.path}, {"rows", file.rows}, {"sha256", file.digest}, {"reader", kOwnReader}});
  return list.dump();
}

void TableFiles::verify() const {
  for (const File& file : files_) {
    state_of(file.path);
    if (sha256_hex(load_file(file.path).view()) != file.digest) fail_changed(file.path);
  }
}

std::vector<std::size_t> TableFiles::places_in(std::size_t file,
                                               std::span<const std::uint64_t> numbers) const {
  std::vector<std::size_t> places;
  const auto begin = std::lower_bound(numbers.begin(), numbers.end(), begins_[file]);
  for (auto number = begin; number != numbers.end() && *number < begins_[file + 1]; ++number)
    places.push_back(*number - begins_[file]);
  return places;
}

Dataset TableFiles::sample(std::span<const std::uint64_t> numbers, const ReadOptions& options) const {
  std::vector<RawTable> pieces;
  Roles roles;
  for (std::size_t f = 0; f < files_.size(); ++f) {
    const std::vector<std::size_t> places = places_in(f, numbers);
    if (places.empty()) continue;
    const FileBytes bytes = load_file(files_[f].path);
    if (sha256_hex(bytes.view()) != files_[f].digest) fail_changed(files_[f].path);
    roles = {};
    pieces.push_back(parse_file(bytes.view(), files_[f].path, options, roles));
    keep_only(pieces.back(), places);
  }
  if (pieces.empty()) fail(ErrorCode::bad_data, "{}: the files have no rows", files_.front().path);
  RawTable all;
  const RawTable& first = pieces.front();
  all.file = files_.front().path;
  all.has_header = first.has_header;
  all.delimiter = first.delimiter;
  all.absent_is_zero = first.absent_is_zero;
  all.label = first.label;
  all.notes = first.notes;
  if (std::all_of(pieces.begin(), pieces.end(), [&](const RawTable& raw) { return raw.kind == first.kind; }))
    all.kind = first.kind;
  for (std::size_t j = 0; j < first.columns.size(); ++j)
    all.columns.push_back(joined_column(pieces, j, levels_[j]));
  all.rows = numbers.size();
  // Only an error asks for a cell: its file is read again.
  all.locate = [&](std::size_t row, std::size_t column) {
    const auto file = static_cast<std::size_t>(
        std::upper_bound(begins_.begin(), begins_.end(), numbers[row]) - begins_.begin() - 1);
    const FileBytes bytes = load_file(files_[file].path);
    Roles again;
    const RawTable raw = parse_file(bytes.view(), files_[file].path, options, again);
    return raw.locate(numbers[row] - begins_[file], column);
  };
  Dataset data = assemble(std::move(all), roles, options);
  std::string digests;
  for (const File& file : files_) digests += file.digest;
  data.digest = sha256_hex(digests);
  return data;
}

Table TableFiles::rows_like(std::span<const std::uint64_t> numbers, const Codebook& fitted) const {
  Table table;
  for (std::size_t f = 0; f < files_.size(); ++f) {
    const std::vector<std::size_t> places = places_in(f, numbers);
    if (places.empty()) continue;
    FileReader reader(*this, fitted);
    const Table all = reader.read(begins_[f], begins_[f + 1]);
    for (const std::size_t place : places) append_range(table, all, place, place + 1);
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) table.row_ids[i] = std::to_string(numbers[i] + 1);
  return table;
}

Table FileReader::read(std::uint64_t begin, std::uint64_t end) {
  const std::vector<std::uint64_t>& begins = files_->begins_;
  Table table;
  for (std::size_t f = 0; f < files_->files_.size(); ++f) {
    if (begins[f + 1] <= begin || begins[f] >= end) continue;
    if (!held_ || held_file_ != f) {
      const TableFiles::File& file = files_->files_[f];
      held_.reset();
      const struct stat state = state_of(file.path);
      const FileBytes bytes = load_file(file.path);
      if (sha256_hex(bytes.view()) != file.digest) fail_changed(file.path);
      held_ = read_like_bytes(bytes.view(), file.path, fitted_, "", false);
      if (held_->rows() != file.rows)
        fail(ErrorCode::bad_data, "{}: {} rows where the fit has read {}; name the columns in a first row",
             file.path, held_->rows(), file.rows);
      held_file_ = f;
      seen_.push_back({f, static_cast<std::uint64_t>(state.st_size), time_of(state)});
    }
    append_range(table, *held_, std::max(begin, begins[f]) - begins[f],
                 std::min(end, begins[f + 1]) - begins[f]);
    if (end >= begins[f + 1]) held_.reset();
  }
  return table;
}

void FileReader::check() const {
  for (const Seen& seen : seen_) {
    const std::string& path = files_->files_[seen.file].path;
    const struct stat state = state_of(path);
    if (static_cast<std::uint64_t>(state.st_size) != seen.size || time_of(state) != seen.time)
      fail_changed(path);
  }
}

}  // namespace coppice
