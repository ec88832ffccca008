// A thin, checked layer over SQLite: statements that bind and read typed values, errors as Error with our
// codes (cannot_read, bad_data, cannot_write).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace coppice {

class Database {
 public:
  enum class Mode { read, write, create };
  Database(const std::string& path, Mode mode);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void execute(const std::string& sql);
  /// The same, but a database that others are using is left as it is.
  void execute_unless_busy(const std::string& sql);
  std::int64_t integer(const std::string& sql);
  /// Throws Error{cannot_write} if the file no longer has its name: what is written would be lost.
  void check_in_place();
  sqlite3* handle() const { return handle_; }
  /// Throws with the code that fits the SQLite result.
  [[noreturn]] void fail_with(int result) const;

 private:
  std::string path_;
  sqlite3* handle_ = nullptr;
  bool writing_;
};

class Statement {
 public:
  Statement(Database& database, const std::string& sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(std::int64_t value);
  Statement& bind(double value);
  Statement& bind_text(std::string_view value);
  Statement& bind_blob(std::string_view value);
  /// True while there is a row.
  bool step();
  void run();  // step to the end and make ready for new values
  void reset();

  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string bytes(int column) const;  // of a text or blob

 private:
  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
  int next_ = 1;
};

/// BEGIN IMMEDIATE ... COMMIT; rolls back unless committed.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace coppice
