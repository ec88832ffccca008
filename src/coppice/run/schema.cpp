#include "coppice/run/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <set>
#include <string_view>

#include "coppice/base/error.hpp"
#include "coppice/data/text.hpp"

namespace coppice {
namespace {

constexpr std::int64_t kApplicationId = 0x436f7070;  // "Copp"

constexpr std::string_view kMeta =
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL, sha256 TEXT NOT NULL)";
constexpr std::string_view kDraws =
    "CREATE TABLE draws (chain INTEGER NOT NULL, block INTEGER NOT NULL, first INTEGER NOT NULL, "
    "count INTEGER NOT NULL, traces BLOB NOT NULL, labels BLOB NOT NULL, details BLOB, "
    "PRIMARY KEY (chain, block))";
constexpr std::string_view kCheckpoints =
    "CREATE TABLE checkpoints (chain INTEGER PRIMARY KEY, sweep INTEGER NOT NULL, state BLOB NOT NULL)";
constexpr std::string_view kStatus =
    "CREATE TABLE status (chain INTEGER PRIMARY KEY, sweeps INTEGER NOT NULL, seconds REAL NOT NULL, "
    "moves TEXT NOT NULL, sha256 TEXT NOT NULL)";
constexpr std::array kTables{kMeta, kDraws, kCheckpoints, kStatus};

constexpr std::string_view kDrawsOfFormat1 =
    "CREATE TABLE draws (chain INTEGER NOT NULL, block INTEGER NOT NULL, first INTEGER NOT NULL, "
    "count INTEGER NOT NULL, traces BLOB NOT NULL, labels BLOB NOT NULL, PRIMARY KEY (chain, block))";
// As versions of SQLite differ in where they put a column that is added.
constexpr std::string_view kDrawsUpgraded =
    "CREATE TABLE draws (chain INTEGER NOT NULL, block INTEGER NOT NULL, first INTEGER NOT NULL, "
    "count INTEGER NOT NULL, traces BLOB NOT NULL, labels BLOB NOT NULL, PRIMARY KEY (chain, block), "
    "details BLOB)";

/// Without blanks, so that line breaks do not matter.
std::string squeezed(std::string_view sql) {
  std::string text;
  std::copy_if(sql.begin(), sql.end(), std::back_inserter(text),
               [](char c) { return std::isspace(static_cast<unsigned char>(c)) == 0; });
  return text;
}

bool is_ours(std::string_view type, std::string_view name, std::string_view sql) {
  // The indexes of primary keys have no text.
  if (type == "index") return sql.empty() && name.starts_with("sqlite_autoindex_");
  if (type != "table") return false;
  const std::string text = squeezed(sql);
  const auto is = [&](std::string_view known) { return text == squeezed(known); };
  return std::any_of(kTables.begin(), kTables.end(), is) || is(kDrawsOfFormat1) || is(kDrawsUpgraded);
}

}  // namespace

void create_schema(Database& database) {
  database.execute(
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};", kApplicationId, kRunFormat));
  Transaction transaction(database);
  for (const std::string_view table : kTables) database.execute(std::string(table));
  transaction.commit();
}

void upgrade_schema(Database& database) {
  Transaction upgrade(database);
  database.execute(
      fmt::format("ALTER TABLE draws ADD COLUMN details BLOB; PRAGMA user_version = {};", kRunFormat));
  upgrade.commit();
}

void check_schema(Database& database, const std::string& path) {
  if (database.integer("PRAGMA application_id") != kApplicationId)
    fail(ErrorCode::bad_data, "{}: this is not a run of Coppice", path);
  const std::int64_t version = database.integer("PRAGMA user_version");
  if (version > kRunFormat)
    fail(ErrorCode::bad_data,
         "{}: written by a newer Coppice (format {}; this one reads up to {}): upgrade Coppice", path,
         version, kRunFormat);
  if (version < 1) fail(ErrorCode::bad_data, "{}: the run file has the impossible format {}", path, version);
  // Before anything else is asked for: a check of a table evaluates the expressions in its definition.
  std::set<std::string> tables;
  Statement schema(database, "SELECT type, name, sql FROM sqlite_schema");
  while (schema.step()) {
    const std::string type = schema.bytes(0);
    const std::string name = schema.bytes(1);
    if (!is_ours(type, name, schema.bytes(2)))
      fail(ErrorCode::bad_data,
           "{}: '{}' in the file ({}) is not part of a run; the file was changed by another program", path,
           text::display(name, 40), text::display(type, 10));
    if (type == "table") tables.insert(name);
  }
  if (tables.size() != kTables.size())
    fail(ErrorCode::bad_data, "{}: the file is damaged or is not a run of Coppice (tables are missing)",
         path);
  // The full check, not quick_check: a damaged index would hide whole blocks of draws. Rows are few, so it
  // costs no more.
  Statement check(database, "PRAGMA integrity_check(1)");
  if (!check.step() || check.bytes(0) != "ok")
    fail(ErrorCode::bad_data, "{}: the file is damaged: {}", path, check.bytes(0));
}

}  // namespace coppice
