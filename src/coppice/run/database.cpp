#include "coppice/run/database.hpp"

#include <sqlite3.h>

#include <cstring>
#include <utility>

#include "coppice/base/error.hpp"

namespace coppice {
namespace {

/// The file may have been made to do harm: nothing in its schema is run, and pages are checked when read.
void harden(sqlite3* handle) {
  for (const auto& [setting, value] :
       {std::pair{SQLITE_DBCONFIG_DEFENSIVE, 1}, std::pair{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        std::pair{SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, std::pair{SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        std::pair{SQLITE_DBCONFIG_DQS_DDL, 0}, std::pair{SQLITE_DBCONFIG_DQS_DML, 0}})
    sqlite3_db_config(handle, setting, value, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, 100'000);
  sqlite3_limit(handle, SQLITE_LIMIT_EXPR_DEPTH, 50);
  sqlite3_limit(handle, SQLITE_LIMIT_COMPOUND_SELECT, 10);
  sqlite3_limit(handle, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
  sqlite3_exec(handle, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0", nullptr, nullptr, nullptr);
}

}  // namespace

Database::Database(const std::string& path, Mode mode) : path_(path), writing_(mode != Mode::read) {
  int flags = SQLITE_OPEN_FULLMUTEX;
  flags |= mode == Mode::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  if (mode == Mode::create) flags |= SQLITE_OPEN_CREATE;
  const int result = sqlite3_open_v2(path.c_str(), &handle_, flags, nullptr);
  if (result != SQLITE_OK) {
    const std::string reason = handle_ != nullptr ? sqlite3_errmsg(handle_) : sqlite3_errstr(result);
    const int system = handle_ != nullptr ? sqlite3_system_errno(handle_) : 0;
    sqlite3_close(handle_);
    fail(mode == Mode::create ? ErrorCode::cannot_write : ErrorCode::cannot_read, "{}: {}", path,
         system != 0 ? std::strerror(system) : reason.c_str());
  }
  sqlite3_extended_result_codes(handle_, 1);
  sqlite3_busy_timeout(handle_, 10000);
  harden(handle_);
}

Database::~Database() { sqlite3_close(handle_); }

void Database::fail_with(int result) const {
  const std::string reason = sqlite3_errmsg(handle_);
  switch (result & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
      fail(ErrorCode::bad_data, "{}: the file is damaged or is not a run of Coppice ({})", path_, reason);
    case SQLITE_FULL:
      fail(ErrorCode::cannot_write, "{}: no space left on the disk; what was committed before is safe",
           path_);
    case SQLITE_READONLY:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      fail(writing_ ? ErrorCode::cannot_write : ErrorCode::cannot_read, "{}: {}{}", path_, reason,
           writing_ ? "; what was committed before is safe" : "");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      fail(ErrorCode::cannot_write, "{}: another program is writing to this run; wait for it or stop it",
           path_);
    case SQLITE_ERROR:
      // A table or column that is not there: the file has lost its schema.
      fail(ErrorCode::bad_data, "{}: the file is damaged or is not a run of Coppice ({})", path_, reason);
    default:
      fail(ErrorCode::bug, "{}: SQLite: {}", path_, reason);
  }
}

void Database::execute(const std::string& sql) {
  const int result = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) fail_with(result);
}

void Database::execute_unless_busy(const std::string& sql) {
  const int result = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  const int kind = result & 0xff;
  if (result != SQLITE_OK && kind != SQLITE_BUSY && kind != SQLITE_LOCKED) fail_with(result);
}

std::int64_t Database::integer(const std::string& sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.integer(0) : 0;
}

void Database::check_in_place() {
  int has_moved = 0;
  sqlite3_file_control(handle_, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved);
  if (has_moved != 0)
    fail(ErrorCode::cannot_write,
         "{}: the run file was deleted, moved or replaced while it was being written; what was drawn since "
         "the "
         "last commit is lost, and whatever has this name now is left as it is",
         path_);
}

Statement::Statement(Database& database, const std::string& sql) : database_(database) {
  const int result =
      sqlite3_prepare_v2(database.handle(), sql.c_str(), static_cast<int>(sql.size()), &statement_, nullptr);
  if (result != SQLITE_OK) database.fail_with(result);
}

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement& Statement::bind(std::int64_t value) {
  sqlite3_bind_int64(statement_, next_++, value);
  return *this;
}
Statement& Statement::bind(double value) {
  sqlite3_bind_double(statement_, next_++, value);
  return *this;
}
Statement& Statement::bind_text(std::string_view value) {
  sqlite3_bind_text64(statement_, next_++, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}
Statement& Statement::bind_blob(std::string_view value) {
  const int result = sqlite3_bind_blob64(statement_, next_++, value.data(), value.size(), SQLITE_TRANSIENT);
  if (result != SQLITE_OK) database_.fail_with(result);
  return *this;
}

bool Statement::step() {
  const int result = sqlite3_step(statement_);
  if (result == SQLITE_ROW) return true;
  if (result != SQLITE_DONE) {
    sqlite3_reset(statement_);
    database_.fail_with(result);
  }
  return false;
}

void Statement::run() {
  while (step()) {
  }
  reset();
}

void Statement::reset() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  next_ = 1;
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_, column); }
std::string Statement::bytes(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return data == nullptr ? std::string()
                         : std::string(static_cast<const char*>(data), static_cast<std::size_t>(size));
}

Transaction::Transaction(Database& database) : database_(database) { database_.execute("BEGIN IMMEDIATE"); }

Transaction::~Transaction() {
  if (open_) sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

}  // namespace coppice
