#include "coppice/run/run_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <system_error>

#include "coppice/base/error.hpp"
#include "coppice/data/digest.hpp"
#include "coppice/data/row_weights.hpp"
#include "coppice/data/table_blob.hpp"
#include "coppice/data/text.hpp"
#include "coppice/run/block_codec.hpp"
#include "coppice/version.hpp"

namespace coppice {
namespace {

namespace fs = std::filesystem;
constexpr const char* kElapsed = "elapsed_seconds";

void put_meta(Database& database, const std::string& key, std::string_view value) {
  Statement(database, "INSERT OR REPLACE INTO meta (key, value, sha256) VALUES (?, ?, ?)")
      .bind_text(key)
      .bind_blob(value)
      .bind_text(sha256_hex(value))
      .run();
}

std::string status_digest(std::size_t chain, std::int64_t sweeps, double seconds, std::string_view moves) {
  return sha256_hex(fmt::format("{} {} {:a} {}", chain, sweeps, seconds, moves));
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string part_to_json(const TablePart& part) {
  return nlohmann::json{{"all_rows", part.all_rows}, {"numbers", part.numbers}}.dump();
}

void write_new_run(Database& database, const RunContents& contents) {
  create_schema(database);
  Transaction transaction(database);
  put_meta(database, "config", to_json(contents.config));
  if (contents.effective) put_meta(database, "effective", to_json(*contents.effective));
  put_meta(database, "codebook", to_toml(contents.codebook));
  put_meta(database, "input_codebook", to_toml(contents.input_codebook));
  put_meta(database, "transform", contents.transform);
  put_meta(database, "data_digest", contents.data_digest);
  put_meta(database, "table", serialize(contents.table));
  put_meta(database, "truth", serialize(contents.truth));
  if (!contents.labels.columns.empty()) put_meta(database, "labels", serialize(contents.labels));
  if (contents.has_weights()) put_meta(database, "weights", serialize(contents.weights));
  if (!contents.names.empty()) put_meta(database, "names", to_json(contents.names));
  if (contents.part.all_rows != 0) {
    put_meta(database, "part", part_to_json(contents.part));
    put_meta(database, "source", contents.source);
  }
  put_meta(database, "coppice_version", kVersion);
  put_meta(database, "compiler", kCompiler);
  put_meta(database, "created_at", now_utc());
  transaction.commit();
}

void insert_blocks(Database& database, std::span<const DrawBlock> blocks) {
  // A run that is resumed repeats its last block; stopped again before it is through, it must not shorten the
  // block.
  Statement insert(database,
                   "INSERT INTO draws (chain, block, first, count, traces, labels, details) "
                   "VALUES (?, ?, ?, ?, ?, ?, ?) "
                   "ON CONFLICT (chain, block) DO UPDATE SET first = excluded.first, count = excluded.count, "
                   "traces = excluded.traces, labels = excluded.labels, details = excluded.details "
                   "WHERE excluded.count >= count");
  for (const DrawBlock& block : blocks) {
    insert.bind(static_cast<std::int64_t>(block.chain))
        .bind(static_cast<std::int64_t>(block.block))
        .bind(static_cast<std::int64_t>(block.first))
        .bind(static_cast<std::int64_t>(block.count))
        .bind_blob(encode_traces(block))
        .bind_blob(encode_labels(block))
        .bind_blob(encode_payloads(block));
    insert.run();
  }
}

void write_commit(Database& database, const Commit& commit) {
  Transaction transaction(database);
  insert_blocks(database, commit.blocks);
  Statement save(database, "INSERT OR REPLACE INTO checkpoints (chain, sweep, state) VALUES (?, ?, ?)");
  for (const Checkpoint& checkpoint : commit.checkpoints) {
    save.bind(static_cast<std::int64_t>(checkpoint.chain))
        .bind(static_cast<std::int64_t>(checkpoint.sweep))
        .bind_blob(encode_checkpoint(checkpoint));
    save.run();
  }
  Statement status(
      database,
      "INSERT OR REPLACE INTO status (chain, sweeps, seconds, moves, sha256) VALUES (?, ?, ?, ?, ?)");
  for (std::size_t chain = 0; chain < commit.statuses.size(); ++chain) {
    const ChainStatus& now = commit.statuses[chain];
    nlohmann::json moves = nlohmann::json::array();
    for (const MoveStatistics& move : now.moves)
      moves.push_back({{"name", move.name}, {"proposed", move.proposed}, {"accepted", move.accepted}});
    const std::string text = moves.dump();
    const auto sweeps = static_cast<std::int64_t>(now.sweeps);
    status.bind(static_cast<std::int64_t>(chain))
        .bind(sweeps)
        .bind(now.seconds)
        .bind_text(text)
        .bind_text(status_digest(chain, sweeps, now.seconds, text));
    status.run();
  }
  if (commit.elapsed) put_meta(database, kElapsed, fmt::format("{:.3f}", *commit.elapsed));
  transaction.commit();
}

TablePart part_from_json(const std::string& text, std::size_t rows) {
  try {
    const nlohmann::json object = nlohmann::json::parse(text);
    TablePart part{.all_rows = object.at("all_rows").get<std::uint64_t>(),
                   .numbers = object.at("numbers").get<std::vector<std::uint64_t>>()};
    const bool ascends = std::adjacent_find(part.numbers.begin(), part.numbers.end(),
                                            std::greater_equal<>()) == part.numbers.end();
    if (part.numbers.empty() || part.numbers.size() != rows || !ascends ||
        part.numbers.back() >= part.all_rows)
      fail(ErrorCode::bad_data, "the run file is damaged: its rows are not rows of the table");
    return part;
  } catch (const nlohmann::json::exception&) {
    fail(ErrorCode::bad_data, "the run file is damaged: it does not say which rows it has");
  }
}

/// Where links lead: SQLite keeps its log beside the file itself.
std::string real_path(const std::string& path) {
  std::error_code problem;
  const fs::path real = fs::canonical(path, problem);
  return problem ? path : real.string();
}

/// Does the action; what is wrong with the data is said with the file's name.
template <typename Action>
auto naming(const std::string& path, Action&& action) {
  try {
    return action();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::bad_data) throw;
    fail(ErrorCode::bad_data, "{}: {}", path, error.what());
  }
}

}  // namespace

RunFile::RunFile(std::string path, std::unique_ptr<Database> database, bool is_unnamed)
    : path_(std::move(path)),
      is_unnamed_(is_unnamed),
      database_(std::move(database)),
      has_payloads_(database_->integer("PRAGMA user_version") >= 2) {}
RunFile::~RunFile() = default;
RunFile::RunFile(RunFile&&) noexcept = default;

void RunFile::check_creatable(const std::string& path, bool replace) {
  if (path == "-") fail(ErrorCode::usage, "a run cannot be written to standard output; name a file");
  std::error_code problem;
  const fs::file_status there = fs::symlink_status(path, problem);
  if (problem && there.type() != fs::file_type::not_found)
    fail(ErrorCode::cannot_write, "{}: {}", path, problem.message());
  if (!fs::exists(there)) {
    const fs::path folder = fs::path(path).parent_path();
    if (!folder.empty() && !fs::is_directory(folder, problem))
      fail(ErrorCode::cannot_write, "{}: there is no folder '{}'; make it, or choose another name", path,
           folder.string());
    if (::access(folder.empty() ? "." : folder.c_str(), W_OK) != 0)
      fail(ErrorCode::cannot_write, "{}: cannot be written: {}", path,
           std::generic_category().message(errno));
    check_side_files(path);
    return;
  }
  if (!replace)
    fail(ErrorCode::cannot_write,
         "{}: the file exists; resume it, choose another name, or (fit) add --overwrite", path);
  open(path, Access::read);  // throws if it is not a run
}

RunFile RunFile::create(const std::string& path, const RunContents& contents, bool replace,
                        const Commit& start) {
  check_creatable(path, replace);
  std::error_code problem;
  replace = replace && fs::exists(fs::symlink_status(path, problem));
  TemporaryRun temporary(path);
  {
    Database database(temporary.path(), Database::Mode::create);
    write_new_run(database, contents);
    write_commit(database, start);
  }
  {
    // Another program may be drawing for the run that is replaced.
    const std::unique_ptr<RunLock> lock = replace ? std::make_unique<RunLock>(real_path(path)) : nullptr;
    remove_logs(path);
    temporary.publish(replace);
  }
  return open(path, Access::write);
}

RunFile RunFile::create_unnamed(const RunContents& contents) {
  auto database = std::make_unique<Database>("", Database::Mode::create);
  write_new_run(*database, contents);
  return {"(a run without a file)", std::move(database), true};
}

void RunFile::replace(const std::string& from, const std::string& to) {
  std::error_code problem;
  // What is still in the log of the new run would be lost, what is in that of the old one replayed into the
  // new.
  if (fs::exists(from + "-wal", problem))
    fail(ErrorCode::cannot_write, "{} is in use by another program and cannot replace {} yet", from, to);
  const RunLock lock(real_path(to));
  remove_logs(to);
  if (::rename(from.c_str(), to.c_str()) != 0)
    fail(ErrorCode::cannot_write, "{}: {}", to, std::strerror(errno));
}

RunFile RunFile::open(const std::string& path, Access access) {
  const bool writing = access == Access::write;
  std::error_code problem;
  const fs::file_status status = fs::status(path, problem);
  if (problem || !fs::exists(status)) fail(ErrorCode::cannot_read, "{}: {}", path, std::strerror(ENOENT));
  if (fs::is_directory(status)) fail(ErrorCode::cannot_read, "{}: this is a folder, not a run file", path);
  const std::string real = real_path(path);
  check_side_files(real);
  std::unique_ptr<RunLock> lock = writing ? std::make_unique<RunLock>(real) : nullptr;
  if (writing) remove_left_overs(real);
  auto database = std::make_unique<Database>(path, writing ? Database::Mode::write : Database::Mode::read);
  try {
    check_schema(*database, path);
  } catch (const Error& error) {
    // A reader cannot replay the log or the journal of a run that was killed; a writer can, and leaves an
    // ordinary file.
    const bool left_over = fs::exists(real + "-wal") || fs::exists(real + "-journal");
    if (writing || error.code() != ErrorCode::cannot_read || !left_over) throw;
    database = std::make_unique<Database>(path, Database::Mode::write);
    check_schema(*database, path);
  }
  RunFile file(path, std::move(database), false);
  file.lock_ = std::move(lock);
  return file;
}

void RunFile::prepare_to_write() {
  if (is_unnamed_) return;
  if (!lock_) lock_ = std::make_unique<RunLock>(real_path(path_));  // given up by finish()
  database_->check_in_place();
  if (has_log_) return;
  database_->execute("PRAGMA journal_mode = WAL");
  database_->execute("PRAGMA synchronous = NORMAL");
  has_log_ = true;
  if (has_payloads_) return;
  upgrade_schema(*database_);
  has_payloads_ = true;
}

std::string RunFile::meta(const std::string& key) const {
  Statement statement(*database_, "SELECT value, sha256 FROM meta WHERE key = ?");
  statement.bind_text(key);
  if (!statement.step()) fail(ErrorCode::bad_data, "{}: the run file has no '{}': it is damaged", path_, key);
  std::string value = statement.bytes(0);
  if (sha256_hex(value) != statement.bytes(1))
    fail(ErrorCode::bad_data, "{}: the run file is damaged: '{}' does not match its checksum", path_, key);
  return value;
}

bool RunFile::has_meta(const std::string& key) const {
  Statement statement(*database_, "SELECT 1 FROM meta WHERE key = ?");
  statement.bind_text(key);
  return statement.step();
}

RunConfig RunFile::config() const {
  const std::string text = meta("config");
  return naming(path_, [&] { return config_from_json(text); });
}

RunContents RunFile::contents() const {
  RunContents contents;
  contents.config = config();
  contents.codebook = parse_codebook(meta("codebook"), path_);
  contents.input_codebook = parse_codebook(meta("input_codebook"), path_);
  contents.transform = meta("transform");
  contents.data_digest = meta("data_digest");
  const auto table = [&](const std::string& key) {
    const std::string bytes = meta(key);
    return naming(path_, [&] { return deserialize_table(bytes); });
  };
  contents.table = table("table");
  for (Column& column : contents.table.columns)
    if (const ColumnSpec* spec = contents.codebook.find(column.name))
      column.dates = text::parse_date_unit(spec->unit);
  contents.truth = table("truth");
  if (has_meta("labels")) contents.labels = table("labels");
  if (has_meta("weights")) {
    contents.weights = table("weights");
    if (contents.weights.columns.size() != 1 ||
        contents.weights.columns.front().values.size() != contents.table.rows())
      fail(ErrorCode::bad_data, "{}: the run file is damaged: its weights do not fit the data", path_);
    naming(path_, [&] { check_weights(contents.copies(), "weights"); });
  }
  if (has_meta("effective")) {
    const std::string effective = meta("effective");
    contents.effective =
        naming(path_, [&] { return effective_from_json(effective, contents.table.columns.size()); });
  }
  if (has_meta("part")) {
    const std::string part = meta("part");
    contents.part = naming(path_, [&] { return part_from_json(part, contents.table.rows()); });
    contents.source = meta("source");
  }
  if (has_meta("names")) {
    const std::string names = meta("names");
    contents.names = naming(path_, [&] { return given_names_from_json(names, contents.table.rows()); });
  }
  return contents;
}

void RunFile::set_draws(std::size_t draws) {
  RunConfig changed = config();
  changed.draws = draws;
  changed.fix_length();
  prepare_to_write();
  Transaction transaction(*database_);
  put_meta(*database_, "config", to_json(changed));
  transaction.commit();
}

void RunFile::set_end(std::string_view end) {
  RunConfig changed = config();
  changed.end = end;
  prepare_to_write();
  Transaction transaction(*database_);
  put_meta(*database_, "config", to_json(changed));
  transaction.commit();
}

void RunFile::set_length(const RunLength& length, std::string_view end) {
  RunConfig changed = config();
  const RunLength before = changed.length();
  changed.set_length(length);
  changed.end = end;
  prepare_to_write();
  Transaction transaction(*database_);
  if (before.warmup != length.warmup || before.thin != length.thin)
    for (std::size_t chain = 0; chain < changed.chains; ++chain) keep_draws(chain, before, length);
  put_meta(*database_, "config", to_json(changed));
  transaction.commit();
}

void RunFile::keep_draws(std::size_t chain, const RunLength& before, const RunLength& after) {
  std::vector<DrawBlock> changed;
  Statement remove(*database_, "DELETE FROM draws WHERE chain = ?");
  // A block stands under its first draw's number, also inside its blobs: all of them are written again.
  for_each_block(chain, true, [&](const DrawBlock& block) {
    DrawBlock kept;
    kept.chain = chain;
    kept.block = block.block;
    const std::size_t traces = block.traces.size() / block.count;
    const std::size_t labels = block.labels.size() / block.count;
    for (std::size_t i = 0; i < block.count; ++i) {
      const std::size_t sweep = before.sweep_of(block.first + i);
      if (sweep <= after.warmup || (sweep - after.warmup) % after.thin != 0) continue;
      if (kept.count++ == 0) kept.first = (sweep - after.warmup) / after.thin - 1;
      const auto copy = [i](const auto& from, std::size_t width, auto& to) {
        const auto begin = from.begin() + static_cast<std::ptrdiff_t>(i * width);
        to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
      };
      copy(block.traces, traces, kept.traces);
      copy(block.labels, labels, kept.labels);
      if (!block.payload.empty()) kept.payload.push_back(block.payload[i]);
    }
    if (kept.count != 0) changed.push_back(std::move(kept));
  });
  remove.bind(static_cast<std::int64_t>(chain));
  remove.run();
  insert_blocks(*database_, changed);
}

void RunFile::set_names(std::span<const GivenName> names) {
  prepare_to_write();
  Transaction transaction(*database_);
  put_meta(*database_, "names", to_json(names));
  transaction.commit();
}

void RunFile::commit(std::span<const DrawBlock> blocks, std::span<const Checkpoint> checkpoints,
                     std::span<const ChainStatus> statuses, std::optional<double> elapsed) {
  prepare_to_write();
  write_commit(*database_, {blocks, checkpoints, statuses, elapsed});
}

std::optional<Checkpoint> RunFile::checkpoint(std::size_t chain) const {
  Statement statement(*database_, "SELECT sweep, state FROM checkpoints WHERE chain = ?");
  statement.bind(static_cast<std::int64_t>(chain));
  if (!statement.step()) return std::nullopt;
  return naming(path_, [&] {
    return decode_checkpoint(chain, static_cast<std::size_t>(statement.integer(0)), statement.bytes(1),
                             limits_);
  });
}

ChainStatus RunFile::status(std::size_t chain) const {
  Statement statement(*database_, "SELECT sweeps, seconds, moves, sha256 FROM status WHERE chain = ?");
  statement.bind(static_cast<std::int64_t>(chain));
  ChainStatus status;
  if (!statement.step()) return status;
  status.sweeps = static_cast<std::size_t>(std::max<std::int64_t>(0, statement.integer(0)));
  status.seconds = statement.real(1);
  if (status_digest(chain, statement.integer(0), status.seconds, statement.bytes(2)) != statement.bytes(3))
    fail(ErrorCode::bad_data,
         "{}: the run file is damaged: the status of chain {} does not match its checksum", path_, chain);
  try {
    for (const nlohmann::json& move : nlohmann::json::parse(statement.bytes(2)))
      status.moves.push_back({move.at("name"), move.at("proposed"), move.at("accepted")});
  } catch (const nlohmann::json::exception& problem) {
    fail(ErrorCode::bad_data, "{}: the run file is damaged (status: {})", path_, problem.what());
  }
  return status;
}

std::optional<double> RunFile::elapsed() const {
  if (!has_meta(kElapsed)) return std::nullopt;
  double seconds = 0.0;
  if (text::parse_number(meta(kElapsed), seconds) != text::Parsed::number || seconds < 0.0)
    fail(ErrorCode::bad_data, "{}: the run file is damaged: its time is not a number", path_);
  return seconds;
}

std::size_t RunFile::draws_of(std::size_t chain) const {
  Statement statement(*database_, "SELECT COALESCE(SUM(count), 0) FROM draws WHERE chain = ?");
  statement.bind(static_cast<std::int64_t>(chain));
  statement.step();
  return static_cast<std::size_t>(std::max<std::int64_t>(0, statement.integer(0)));
}

bool RunFile::keeps_parameters() const {
  Statement statement(*database_,
                      "SELECT chain, block, first, count, labels FROM draws WHERE count > 0 LIMIT 1");
  if (!statement.step()) return false;
  DrawBlock block;
  block.chain = static_cast<std::size_t>(statement.integer(0));
  block.block = static_cast<std::size_t>(statement.integer(1));
  block.first = static_cast<std::size_t>(statement.integer(2));
  block.count = static_cast<std::size_t>(statement.integer(3));
  decode_labels(statement.bytes(4), block);
  return block.labels.empty();
}

void RunFile::for_each_block(std::size_t chain, bool labels,
                             const std::function<void(const DrawBlock&)>& visit) const {
  Statement statement(
      *database_,
      fmt::format("SELECT block, first, count, traces{}{} FROM draws WHERE chain = ? ORDER BY block",
                  labels ? ", labels" : "", labels && has_payloads_ ? ", details" : ""));
  statement.bind(static_cast<std::int64_t>(chain));
  std::size_t expected = 0;
  while (statement.step()) {
    DrawBlock block;
    block.chain = chain;
    block.block = static_cast<std::size_t>(statement.integer(0));
    block.first = static_cast<std::size_t>(statement.integer(1));
    block.count = static_cast<std::size_t>(statement.integer(2));
    if (block.first != expected)
      fail(ErrorCode::bad_data, "{}: the run file is damaged: draws of chain {} are missing", path_, chain);
    naming(path_, [&] {
      decode_traces(statement.bytes(3), block, limits_);
      if (labels) decode_labels(statement.bytes(4), block, limits_);
      if (labels && has_payloads_) decode_payloads(statement.bytes(5), block, limits_);
    });
    expected += block.count;
    visit(block);
  }
}

std::vector<TraceValues> RunFile::traces(std::size_t width) const {
  const std::size_t chains = config().chains;
  std::vector<TraceValues> traces(width, TraceValues(chains));
  auto shortest = static_cast<std::size_t>(-1);
  for (std::size_t chain = 0; chain < chains; ++chain) {
    std::size_t count = 0;
    for_each_block(chain, false, [&](const DrawBlock& block) {
      if (block.traces.size() != block.count * width)
        fail(ErrorCode::bad_data, "{}: the run file is damaged: its traces do not fit the model", path_);
      for (std::size_t draw = 0; draw < block.count; ++draw)
        for (std::size_t trace = 0; trace < width; ++trace)
          traces[trace][chain].push_back(block.traces[draw * width + trace]);
      count += block.count;
    });
    shortest = std::min(shortest, count);
  }
  for (TraceValues& trace : traces)
    for (std::vector<double>& chain : trace) chain.resize(shortest);
  return traces;
}

void RunFile::finish() {
  database_->execute_unless_busy("PRAGMA journal_mode = DELETE");
  has_log_ = false;
  lock_.reset();
}

}  // namespace coppice
