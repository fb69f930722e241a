// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "log/database.h"

#include <filesystem>

#include <sqlite3.h>
#include <unistd.h>

namespace dojo::log {
namespace {

constexpr int kBusyMilliseconds = 20000;

Error describe(int code, const std::string& path, const std::string& sqliteMessage) {
  switch (code & 0xff) {
    case SQLITE_CANTOPEN:
      return {"log.unwritable", "cannot open the log file or write beside it", path, ""};
    case SQLITE_NOTADB:
      return {"log.not-a-log", "this is not an SQLite file, so not a tuning log", path, ""};
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return {"log.unwritable", "the log is read-only; give another with --log", path, ""};
    case SQLITE_FULL:
      return {"log.full", "no space is left for the log", path, ""};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {"log.busy", "another process holds the log for too long", path, ""};
    case SQLITE_CORRUPT:
      return {"log.damaged", "the log file is damaged (" + sqliteMessage + ")", path, ""};
    case SQLITE_IOERR:
      return {"log.unwritable", "reading or writing the log failed (" + sqliteMessage + ")", path,
              ""};
    default:
      return {"log.failed", "the log refused an operation: " + sqliteMessage, path, ""};
  }
}

/// Where reading needs a file beside the database that can't be made: a log of somebody else, a
/// read-only disk. Without unmerged changes it's read as it stands.
bool onlyAsItStands(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (access(folder.empty() ? "." : folder.c_str(), W_OK) == 0) return false;
  std::error_code failed;
  const std::uintmax_t changes = std::filesystem::file_size(path + "-wal", failed);
  return failed || changes == 0;
}

/// As a URI, in which some characters mean something.
std::string uri(const std::string& path) {
  std::string out = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      out += c == '%' ? "%25" : c == '?' ? "%3f" : "%23";
    } else {
      out += c;
    }
  }
  return out + "?immutable=1";
}

}  // namespace

std::string fileName(const std::string& path) {
  return path.empty() || path[0] == '/' ? path : "./" + path;
}

Statement::Statement(sqlite3* db, std::string_view sql) {
  error_ = sqlite3_prepare_v2(db, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr);
}

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement& Statement::bind(std::string_view text) {
  if (statement_ != nullptr) {
    sqlite3_bind_text(statement_, ++parameter_, text.data(), static_cast<int>(text.size()),
                      SQLITE_TRANSIENT);
  }
  return *this;
}
Statement& Statement::bind(std::int64_t value) {
  if (statement_ != nullptr) sqlite3_bind_int64(statement_, ++parameter_, value);
  return *this;
}
Statement& Statement::bind(double value) {
  if (statement_ != nullptr) sqlite3_bind_double(statement_, ++parameter_, value);
  return *this;
}
Statement& Statement::bindNull() {
  if (statement_ != nullptr) sqlite3_bind_null(statement_, ++parameter_);
  return *this;
}

bool Statement::step() {
  if (error_ != 0 || statement_ == nullptr) return false;
  column_ = 0;
  int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) error_ = code;
  return false;
}

std::string Statement::text() {
  const unsigned char* data = sqlite3_column_text(statement_, column_);
  int bytes = sqlite3_column_bytes(statement_, column_);
  ++column_;
  return data == nullptr
             ? std::string()
             : std::string(reinterpret_cast<const char*>(data), static_cast<std::size_t>(bytes));
}
std::int64_t Statement::integer() { return sqlite3_column_int64(statement_, column_++); }
double Statement::real() { return sqlite3_column_double(statement_, column_++); }
bool Statement::null() { return sqlite3_column_type(statement_, column_) == SQLITE_NULL; }

Result<std::unique_ptr<Database>> Database::open(const std::string& path, Mode mode) {
  std::error_code ignored;
  if (path.empty()) return Error{"log.missing", "the name of the log is empty", "", ""};
  if (std::filesystem::is_directory(path, ignored)) {
    return Error{"log.unwritable", "the log must be a file, and this is a directory", path, ""};
  }
  if (mode == Mode::read && !std::filesystem::exists(path, ignored)) {
    return Error{"log.missing", "there is no such log", path, ""};
  }
  sqlite3* handle = nullptr;
  int flags =
      SQLITE_OPEN_FULLMUTEX |
      (mode == Mode::write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READWRITE);
  std::string name = fileName(path);
  if (mode == Mode::read && onlyAsItStands(path)) {
    name = uri(name);
    flags = SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  }
  int code = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
  std::unique_ptr<Database> db(new Database(handle, path));
  if (code != SQLITE_OK) return db->error(code);
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
  if (mode == Mode::write && sqlite3_db_readonly(handle, "main") == 1) {
    return describe(SQLITE_READONLY, path, "");
  }
  return db;
}

Database::~Database() { sqlite3_close_v2(db_); }

Status Database::execute(const std::string& sql) {
  int code = sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error(code);
  return {};
}

Error Database::error(int code) const { return describe(code, path_, sqlite3_errmsg(db_)); }

Status Database::status(const Statement& statement) const {
  if (statement.error() != 0) return error(statement.error());
  return {};
}

std::int64_t Database::changes() const { return sqlite3_changes64(db_); }
std::int64_t Database::lastRow() const { return sqlite3_last_insert_rowid(db_); }

Database::Transaction::~Transaction() {
  if (begun_.ok() && !done_) (void)db_.execute("ROLLBACK");
}

Status Database::Transaction::commit() {
  Status status = db_.execute("COMMIT");
  done_ = status.ok();
  return status;
}

}  // namespace dojo::log
