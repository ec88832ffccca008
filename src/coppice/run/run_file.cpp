#include "coppice/run/run_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "coppice/base/error.hpp"
#include "coppice/data/digest.hpp"
#include "coppice/data/table_blob.hpp"
#include "coppice/run/block_codec.hpp"
#include "coppice/version.hpp"

namespace coppice {
namespace {

namespace fs = std::filesystem;
constexpr std::int64_t kApplicationId = 0x436f7070;  // "Copp"

constexpr const char* kSchema = R"(
CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL, sha256 TEXT NOT NULL);
CREATE TABLE draws (chain INTEGER NOT NULL, block INTEGER NOT NULL, first INTEGER NOT NULL, count INTEGER NOT NULL,
                    traces BLOB NOT NULL, labels BLOB NOT NULL, details BLOB, PRIMARY KEY (chain, block));
CREATE TABLE checkpoints (chain INTEGER PRIMARY KEY, sweep INTEGER NOT NULL, state BLOB NOT NULL);
CREATE TABLE status (chain INTEGER PRIMARY KEY, sweeps INTEGER NOT NULL, seconds REAL NOT NULL, moves TEXT NOT NULL,
                     sha256 TEXT NOT NULL);
)";

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

void write_new_run(Database& database, const RunContents& contents) {
  database.execute(
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};", kApplicationId, kRunFormat));
  Transaction transaction(database);
  database.execute(kSchema);
  put_meta(database, "config", to_json(contents.config));
  if (contents.effective) put_meta(database, "effective", to_json(*contents.effective));
  put_meta(database, "codebook", to_toml(contents.codebook));
  put_meta(database, "input_codebook", to_toml(contents.input_codebook));
  put_meta(database, "transform", contents.transform);
  put_meta(database, "data_digest", contents.data_digest);
  put_meta(database, "table", serialize(contents.table));
  put_meta(database, "truth", serialize(contents.truth));
  if (!contents.labels.columns.empty()) put_meta(database, "labels", serialize(contents.labels));
  put_meta(database, "coppice_version", kVersion);
  put_meta(database, "compiler", kCompiler);
  put_meta(database, "created_at", now_utc());
  transaction.commit();
}

void check_format(Database& database, const std::string& path) {
  if (database.integer("PRAGMA application_id") != kApplicationId)
    fail(ErrorCode::bad_data, "{}: this is not a run of Coppice", path);
  const std::int64_t version = database.integer("PRAGMA user_version");
  if (version > kRunFormat)
    fail(ErrorCode::bad_data,
         "{}: written by a newer Coppice (format {}; this one reads up to {}): upgrade Coppice", path,
         version, kRunFormat);
  if (version < 1) fail(ErrorCode::bad_data, "{}: the run file has the impossible format {}", path, version);
  // The full check, not quick_check: a damaged index would hide whole blocks of draws. Rows are few, so it
  // costs no more.
  Statement check(database, "PRAGMA integrity_check(1)");
  if (!check.step() || check.bytes(0) != "ok")
    fail(ErrorCode::bad_data, "{}: the file is damaged: {}", path, check.bytes(0));
}

}  // namespace

RunFile::RunFile(std::string path, std::unique_ptr<Database> database)
    : path_(std::move(path)),
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
    return;
  }
  if (!replace)
    fail(ErrorCode::cannot_write,
         "{}: the file exists; resume it, choose another name, or (fit) add --overwrite", path);
  open(path, Access::read);  // throws if it is not a run
}

RunFile RunFile::create(const std::string& path, const RunContents& contents, bool replace) {
  check_creatable(path, replace);
  std::error_code problem;
  replace = replace && fs::exists(fs::symlink_status(path, problem));
  const std::string temporary = fmt::format("{}.new-{}", path, ::getpid());
  fs::remove(temporary, problem);
  // SQLite would try a second time, for reading, and say that there is no such file.
  const int made = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (made < 0) fail(ErrorCode::cannot_write, "{}: {}", path, std::strerror(errno));
  ::close(made);
  try {
    Database database(temporary, Database::Mode::create);
    write_new_run(database, contents);
  } catch (...) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw;
  }
  // The log of an earlier run of that name must not be replayed into the new one.
  for (const char* suffix : {"-wal", "-shm", "-journal"}) fs::remove(path + suffix, problem);
  // link() does not replace a file that another process has made meanwhile; rename() does.
  const int result =
      replace ? ::rename(temporary.c_str(), path.c_str()) : ::link(temporary.c_str(), path.c_str());
  if (result != 0) {
    const int reason = errno;
    fs::remove(temporary, problem);
    fail(ErrorCode::cannot_write, "{}: {}", path, std::strerror(reason));
  }
  fs::remove(temporary, problem);
  return open(path, Access::write);
}

RunFile RunFile::create_unnamed(const RunContents& contents) {
  auto database = std::make_unique<Database>("", Database::Mode::create);
  write_new_run(*database, contents);
  return {"(a run without a file)", std::move(database)};
}

void RunFile::replace(const std::string& from, const std::string& to) {
  std::error_code problem;
  // What is still in the log of the new run would be lost, what is in that of the old one replayed into the
  // new.
  if (fs::exists(from + "-wal", problem))
    fail(ErrorCode::cannot_write, "{} is in use by another program and cannot replace {} yet", from, to);
  for (const char* suffix : {"-wal", "-shm", "-journal"}) fs::remove(to + suffix, problem);
  if (::rename(from.c_str(), to.c_str()) != 0)
    fail(ErrorCode::cannot_write, "{}: {}", to, std::strerror(errno));
}

RunFile RunFile::open(const std::string& path, Access access) {
  const bool writing = access == Access::write;
  std::error_code problem;
  const fs::file_status status = fs::status(path, problem);
  if (problem || !fs::exists(status)) fail(ErrorCode::cannot_read, "{}: {}", path, std::strerror(ENOENT));
  if (fs::is_directory(status)) fail(ErrorCode::cannot_read, "{}: this is a folder, not a run file", path);
  auto database = std::make_unique<Database>(path, writing ? Database::Mode::write : Database::Mode::read);
  try {
    check_format(*database, path);
  } catch (const Error& error) {
    // A reader cannot replay the log or the journal of a run that was killed; a writer can, and leaves an
    // ordinary file.
    const bool left_over = fs::exists(path + "-wal") || fs::exists(path + "-journal");
    if (writing || error.code() != ErrorCode::cannot_read || !left_over) throw;
    database = std::make_unique<Database>(path, Database::Mode::write);
    check_format(*database, path);
  }
  if (writing) {
    database->execute("PRAGMA journal_mode = WAL");
    database->execute("PRAGMA synchronous = NORMAL");
    if (database->integer("PRAGMA user_version") == 1) {
      Transaction upgrade(*database);
      database->execute(
          fmt::format("ALTER TABLE draws ADD COLUMN details BLOB; PRAGMA user_version = {};", kRunFormat));
      upgrade.commit();
    }
  }
  return {path, std::move(database)};
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

RunConfig RunFile::config() const { return config_from_json(meta("config")); }

RunContents RunFile::contents() const {
  RunContents contents;
  contents.config = config();
  contents.codebook = parse_codebook(meta("codebook"), path_);
  contents.input_codebook = parse_codebook(meta("input_codebook"), path_);
  contents.transform = meta("transform");
  contents.data_digest = meta("data_digest");
  contents.table = deserialize_table(meta("table"));
  contents.truth = deserialize_table(meta("truth"));
  if (has_meta("labels")) contents.labels = deserialize_table(meta("labels"));
  if (has_meta("effective"))
    contents.effective = effective_from_json(meta("effective"), contents.table.columns.size());
  return contents;
}

void RunFile::set_draws(std::size_t draws) {
  RunConfig changed = config();
  changed.draws = draws;
  Transaction transaction(*database_);
  put_meta(*database_, "config", to_json(changed));
  transaction.commit();
}

void RunFile::commit(std::span<const DrawBlock> blocks, std::span<const Checkpoint> checkpoints,
                     std::span<const ChainStatus> statuses) {
  Transaction transaction(*database_);
  // A run that is resumed repeats its last block; stopped again before it is through, it must not shorten the
  // block.
  Statement insert(*database_,
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
  Statement save(*database_, "INSERT OR REPLACE INTO checkpoints (chain, sweep, state) VALUES (?, ?, ?)");
  for (const Checkpoint& checkpoint : checkpoints) {
    save.bind(static_cast<std::int64_t>(checkpoint.chain))
        .bind(static_cast<std::int64_t>(checkpoint.sweep))
        .bind_blob(encode_checkpoint(checkpoint));
    save.run();
  }
  Statement status(
      *database_,
      "INSERT OR REPLACE INTO status (chain, sweeps, seconds, moves, sha256) VALUES (?, ?, ?, ?, ?)");
  for (std::size_t chain = 0; chain < statuses.size(); ++chain) {
    nlohmann::json moves = nlohmann::json::array();
    for (const MoveStatistics& move : statuses[chain].moves)
      moves.push_back({{"name", move.name}, {"proposed", move.proposed}, {"accepted", move.accepted}});
    const std::string text = moves.dump();
    const auto sweeps = static_cast<std::int64_t>(statuses[chain].sweeps);
    status.bind(static_cast<std::int64_t>(chain))
        .bind(sweeps)
        .bind(statuses[chain].seconds)
        .bind_text(text)
        .bind_text(status_digest(chain, sweeps, statuses[chain].seconds, text));
    status.run();
  }
  transaction.commit();
}

std::optional<Checkpoint> RunFile::checkpoint(std::size_t chain) const {
  Statement statement(*database_, "SELECT sweep, state FROM checkpoints WHERE chain = ?");
  statement.bind(static_cast<std::int64_t>(chain));
  if (!statement.step()) return std::nullopt;
  return decode_checkpoint(chain, static_cast<std::size_t>(statement.integer(0)), statement.bytes(1));
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

std::size_t RunFile::draws_of(std::size_t chain) const {
  Statement statement(*database_, "SELECT COALESCE(SUM(count), 0) FROM draws WHERE chain = ?");
  statement.bind(static_cast<std::int64_t>(chain));
  statement.step();
  return static_cast<std::size_t>(std::max<std::int64_t>(0, statement.integer(0)));
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
    decode_traces(statement.bytes(3), block);
    if (labels) decode_labels(statement.bytes(4), block);
    if (labels && has_payloads_) decode_payloads(statement.bytes(5), block);
    expected += block.count;
    visit(block);
  }
}

void RunFile::finish() { database_->execute_unless_busy("PRAGMA journal_mode = DELETE"); }

}  // namespace coppice
