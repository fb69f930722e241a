// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The little of SQLite that the log needs, with errors as sentences. Internal to host/log.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace dojo::log {

/// A prepared statement. Parameters are bound from the left with bind(); columns are read from the
/// left with the same order of calls.
class Statement {
 public:
  Statement(sqlite3* db, std::string_view sql);
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  Statement& bind(std::string_view text);
  Statement& bind(const char* text) { return bind(std::string_view(text)); }
  Statement& bind(const std::string& text) { return bind(std::string_view(text)); }
  Statement& bind(std::int64_t value);
  Statement& bind(double value);
  Statement& bind(bool value) { return bind(std::int64_t{value ? 1 : 0}); }
  Statement& bindNull();

  /// True while there is a row. Past an error step() is false and error() is set.
  bool step();
  /// SQLite's result code where something went wrong (while preparing or stepping), else 0.
  [[nodiscard]] int error() const { return error_; }

  [[nodiscard]] std::string text();
  [[nodiscard]] std::int64_t integer();
  [[nodiscard]] double real();
  [[nodiscard]] bool null();  ///< Looks at the next column without passing it.

 private:
  sqlite3_stmt* statement_ = nullptr;
  int error_ = 0;
  int parameter_ = 0;
  int column_ = 0;
};

/// The path as SQLite must get it: some names (":memory:") mean something else to it.
[[nodiscard]] std::string fileName(const std::string& path);

/// An open database file.
class Database {
 public:
  enum class Mode : std::uint8_t { read, write };
  static Result<std::unique_ptr<Database>> open(const std::string& path, Mode mode);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  [[nodiscard]] Status execute(const std::string& sql);
  [[nodiscard]] Statement prepare(std::string_view sql) const { return {db_, sql}; }
  /// What went wrong last, as one sentence about this file.
  [[nodiscard]] Error error(int code) const;
  /// error() of a statement, or good.
  [[nodiscard]] Status status(const Statement& statement) const;
  [[nodiscard]] std::int64_t changes() const;
  [[nodiscard]] std::int64_t lastRow() const;
  [[nodiscard]] const std::string& path() const { return path_; }

  /// BEGIN IMMEDIATE ... COMMIT; rolls back unless commit() was called.
  class Transaction {
   public:
    explicit Transaction(Database& db) : db_(db), begun_(db.execute("BEGIN IMMEDIATE")) {}
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    ~Transaction();
    [[nodiscard]] const Status& begun() const { return begun_; }
    [[nodiscard]] Status commit();

   private:
    Database& db_;
    Status begun_;
    bool done_ = false;
  };

 private:
  Database(sqlite3* db, std::string path) : db_(db), path_(std::move(path)) {}
  sqlite3* db_;
  std::string path_;
};

}  // namespace dojo::log
