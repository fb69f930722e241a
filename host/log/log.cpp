// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "log/log.h"

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <random>
#include <thread>

#include <nlohmann/json.hpp>

#include "log/database.h"
#include "log/record.h"

namespace dojo::log {
namespace {

constexpr std::int64_t kApplication = 0x444f4a4f;  // "DOJO"
constexpr std::int64_t kVersion = 1;

constexpr const char* kSchema = R"sql(
CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  key TEXT UNIQUE,
  kernel TEXT NOT NULL, source TEXT NOT NULL, shape TEXT NOT NULL, dtype TEXT NOT NULL,
  target TEXT NOT NULL, fp_description TEXT NOT NULL, fp_isa TEXT NOT NULL,
  fp_clock TEXT NOT NULL, fp_runner TEXT NOT NULL,
  strategy TEXT NOT NULL, seed TEXT NOT NULL, trials INTEGER NOT NULL,
  cache TEXT NOT NULL, tool TEXT NOT NULL,
  started TEXT NOT NULL, ended TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE TABLE trials (
  row INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  run TEXT NOT NULL REFERENCES runs(id),
  kind TEXT NOT NULL, idx INTEGER NOT NULL,
  program TEXT NOT NULL, trace TEXT NOT NULL,
  stage TEXT, code TEXT, detail TEXT,
  cycles REAL, score REAL, spread REAL, counter TEXT, cache TEXT, censored INTEGER,
  calls INTEGER, samples TEXT, ratios TEXT,
  worst_error REAL, compared INTEGER, skipped INTEGER,
  compile REAL NOT NULL, transfer REAL NOT NULL, verify REAL NOT NULL, run_time REAL NOT NULL,
  queue REAL NOT NULL, wall REAL NOT NULL, time TEXT NOT NULL,
  UNIQUE (run, kind, idx)
);
CREATE INDEX trials_by_score ON trials(run, score);
)sql";

/// Added to logs that were made before there was such a table.
constexpr const char* kKeptSchema = R"sql(
CREATE TABLE IF NOT EXISTS kept (
  run TEXT NOT NULL REFERENCES runs(id),
  name TEXT NOT NULL, texts TEXT NOT NULL,
  PRIMARY KEY (run, name)
) WITHOUT ROWID;
)sql";

std::string uuid() {
  std::random_device device;
  std::uint32_t words[4] = {device(), device(), device(), device()};
  words[1] = (words[1] & 0xffff0fffU) | 0x4000U;
  words[2] = (words[2] & 0x3fffffffU) | 0x80000000U;
  char out[40];
  std::snprintf(out, sizeof out, "%08x-%04x-%04x-%04x-%04x%08x", words[0], words[1] >> 16,
                words[1] & 0xffffU, words[2] >> 16, words[2] & 0xffffU, words[3]);
  return out;
}

std::string now() {
  std::timespec time{};
  std::timespec_get(&time, TIME_UTC);
  std::tm parts{};
  gmtime_r(&time.tv_sec, &parts);
  char out[48];
  std::size_t length = std::strftime(out, sizeof out, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(out + length, sizeof out - length, ".%03ldZ", time.tv_nsec / 1000000);
  return out;
}

/// Everything that identifies a run, unambiguously joined.
std::string keyOf(const RunSettings& s) {
  return nlohmann::json::array({s.kernel, s.source, s.shape, s.dtype, s.target,
                                s.fingerprint.description, s.fingerprint.isa, s.fingerprint.clock,
                                s.fingerprint.runner, s.strategy, s.seed, s.trials, s.cache,
                                s.tool})
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Switching to WAL needs the file alone for a moment, and SQLite doesn't wait for that by itself.
Status enterWal(Database& db) {
  constexpr int kTries = 1000;
  constexpr auto kPause = std::chrono::milliseconds(20);
  Status status;
  for (int k = 0; k < kTries; ++k) {
    status = db.execute("PRAGMA journal_mode=WAL");
    if (status.ok() || status.error().code != "log.busy") break;
    std::this_thread::sleep_for(kPause);
  }
  return status;
}

Status prepareFile(Database& db, Log::Mode mode) {
  auto pragma = [&](const std::string& name, std::int64_t& value) -> Status {
    Statement statement = db.prepare("PRAGMA " + name);
    if (statement.step()) value = statement.integer();
    return db.status(statement);
  };
  std::int64_t application = 0, version = 0, tables = 0;
  {
    // One snapshot: another process may be making the log right now.
    if (Status s = db.execute("BEGIN"); !s.ok()) return s;
    if (Status s = pragma("application_id", application); !s.ok()) return s;
    if (Status s = pragma("user_version", version); !s.ok()) return s;
    {
      Statement statement = db.prepare("SELECT count(*) FROM sqlite_master");
      if (statement.step()) tables = statement.integer();
      if (Status s = db.status(statement); !s.ok()) return s;
    }
    if (Status s = db.execute("COMMIT"); !s.ok()) return s;
  }
  bool fresh = application == 0 && version == 0 && tables == 0;
  if (!fresh && application != kApplication) {
    return Error{"log.not-a-log", "this SQLite file belongs to another program", db.path(), ""};
  }
  if (!fresh && version != kVersion) {
    return Error{"log.version",
                 "the log has format " + std::to_string(version) + " and this program writes " +
                     std::to_string(kVersion) +
                     "; export it with the program that wrote it, or give another with --log",
                 db.path(), ""};
  }
  if (fresh && mode == Log::Mode::read) {
    return Error{"log.not-a-log", "the file is empty, so not a tuning log", db.path(), ""};
  }
  if (mode == Log::Mode::read) return {};
  if (Status s = enterWal(db); !s.ok()) return s;
  if (Status s = db.execute("PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON"); !s.ok()) return s;
  if (!fresh) return db.execute(kKeptSchema);
  Database::Transaction transaction(db);
  if (!transaction.begun().ok()) return transaction.begun();
  // Another process may have been first.
  if (Status s = pragma("user_version", version); !s.ok()) return s;
  if (version != kVersion) {
    if (Status s = db.execute(std::string(kSchema) + kKeptSchema); !s.ok()) return s;
    if (Status s = db.execute("PRAGMA application_id=" + std::to_string(kApplication) +
                              "; PRAGMA user_version=" + std::to_string(kVersion));
        !s.ok()) {
      return s;
    }
  }
  return transaction.commit();
}

}  // namespace

std::string_view name(Kind kind) {
  switch (kind) {
    case Kind::search:
      return "search";
    case Kind::final:
      return "final";
    case Kind::single:
      return "single";
  }
  return "";
}

Log::Log(std::unique_ptr<Database> db) : db_(std::move(db)) {}
Log::Log(Log&&) noexcept = default;
Log& Log::operator=(Log&&) noexcept = default;
Log::~Log() = default;

Result<Log> Log::open(const std::string& path, Mode mode) {
  Result<std::unique_ptr<Database>> db =
      Database::open(path, mode == Mode::write ? Database::Mode::write : Database::Mode::read);
  if (!db.ok()) return db.error();
  if (Status s = prepareFile(**db, mode); !s.ok()) return s.error();
  return Log(std::move(db).value());
}

Result<Run> Log::insertRun(const RunSettings& s, const std::string& key) {
  Run run{uuid(), s, now(), ""};
  Statement insert = db_->prepare(
      "INSERT INTO runs(id, key, kernel, source, shape, dtype, target, fp_description, fp_isa, "
      "fp_clock, fp_runner, strategy, seed, trials, cache, tool, started) "
      "VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  insert.bind(run.id);
  if (key.empty()) {
    insert.bindNull();
  } else {
    insert.bind(key);
  }
  insert.bind(s.kernel).bind(s.source).bind(s.shape).bind(s.dtype).bind(s.target);
  insert.bind(s.fingerprint.description).bind(s.fingerprint.isa).bind(s.fingerprint.clock);
  insert.bind(s.fingerprint.runner).bind(s.strategy).bind(std::to_string(s.seed)).bind(s.trials);
  insert.bind(s.cache).bind(s.tool).bind(run.started);
  insert.step();
  if (Status status = db_->status(insert); !status.ok()) return status.error();
  return run;
}

Result<Run> Log::resume(const RunSettings& settings) {
  std::string key = keyOf(settings);
  Database::Transaction transaction(*db_);
  if (!transaction.begun().ok()) return transaction.begun().error();
  {
    Statement find =
        db_->prepare("SELECT " + std::string(kRunColumns) + " FROM runs WHERE runs.key = ?");
    find.bind(key);
    if (find.step()) return readRun(find);
    if (Status s = db_->status(find); !s.ok()) return s.error();
  }
  Result<Run> run = insertRun(settings, key);
  if (!run.ok()) return run;
  if (Status s = transaction.commit(); !s.ok()) return s.error();
  return run;
}

Result<Run> Log::start(const RunSettings& settings) { return insertRun(settings, ""); }

Status Log::end(const Run& run) {
  Statement update = db_->prepare("UPDATE runs SET ended = ? WHERE id = ?");
  update.bind(now()).bind(run.id);
  update.step();
  return db_->status(update);
}

Result<std::optional<std::vector<std::string>>> Log::kept(const Run& run,
                                                          const std::string& name) const {
  Statement find = db_->prepare("SELECT texts FROM kept WHERE run = ? AND name = ?");
  find.bind(run.id).bind(name);
  if (!find.step()) {
    Status s = db_->status(find);
    if (!s.ok()) return s.error();
    return std::optional<std::vector<std::string>>();
  }
  const nlohmann::json json = nlohmann::json::parse(find.text(), nullptr, false);
  std::vector<std::string> out;
  bool good = json.is_array();
  for (std::size_t k = 0; good && k < json.size(); ++k) {
    good = json[k].is_string();
    if (good) out.push_back(json[k].get<std::string>());
  }
  if (!good) {
    return Error{"log.damaged", "what run " + run.id + " keeps as " + name + " doesn't read back",
                 db_->path(), ""};
  }
  return std::optional(std::move(out));
}

Result<std::vector<std::string>> Log::keep(const Run& run, const std::string& name,
                                           const std::vector<std::string>& texts) {
  Statement insert = db_->prepare(
      "INSERT INTO kept(run, name, texts) VALUES(?, ?, ?) ON CONFLICT(run, name) DO NOTHING");
  insert.bind(run.id).bind(name).bind(
      nlohmann::json(texts).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  insert.step();
  if (Status s = db_->status(insert); !s.ok()) return s.error();
  Result<std::optional<std::vector<std::string>>> found = kept(run, name);
  if (!found.ok()) return found.error();
  return found->value_or(std::vector<std::string>());
}

Result<Trial> Log::append(const Trial& given) {
  Trial trial = given;
  trial.id = uuid();
  trial.time = now();
  Statement insert =
      db_->prepare("INSERT INTO trials(" + std::string(kTrialFields) + ") VALUES(" +
                   std::string(kTrialMarks) + ") ON CONFLICT(run, kind, idx) DO NOTHING");
  bindTrial(insert, trial);
  insert.step();
  if (Status s = db_->status(insert); !s.ok()) return s.error();
  if (db_->changes() == 1) {
    trial.row = db_->lastRow();
    return trial;
  }
  Statement find = db_->prepare("SELECT " + std::string(kTrialColumns) +
                                " FROM trials WHERE run = ? AND kind = ? AND idx = ?");
  find.bind(trial.run).bind(name(trial.kind)).bind(trial.index);
  if (!find.step()) {
    Status s = db_->status(find);
    if (!s.ok()) return s.error();
    return Error{"log.damaged", "a row vanished while it was written", db_->path(), ""};
  }
  return readTrial(find);
}

Result<std::vector<Trial>> Log::append(const std::vector<Trial>& trials) {
  Database::Transaction transaction(*db_);
  if (!transaction.begun().ok()) return transaction.begun().error();
  std::vector<Trial> out;
  for (const Trial& trial : trials) {
    Result<Trial> row = append(trial);
    if (!row.ok()) return row.error();
    out.push_back(std::move(row).value());
  }
  if (Status s = transaction.commit(); !s.ok()) return s.error();
  return out;
}

Result<std::vector<Trial>> Log::trials(const std::string& run, Kind kind) const {
  std::vector<Trial> out;
  Statement select = db_->prepare("SELECT " + std::string(kTrialColumns) +
                                  " FROM trials WHERE run = ? AND kind = ? ORDER BY idx");
  select.bind(run).bind(name(kind));
  while (select.step()) {
    Result<Trial> trial = readTrial(select);
    if (!trial.ok()) return trial.error();
    out.push_back(std::move(trial).value());
  }
  if (Status s = db_->status(select); !s.ok()) return s.error();
  return out;
}

Status Log::forEach(const Filter& filter, const std::function<void(const Record&)>& fn) const {
  std::string sql = "SELECT " + std::string(kTrialColumns) + ", " + std::string(kRunColumns) +
                    " FROM trials JOIN runs ON trials.run = runs.id WHERE 1";
  std::vector<std::string> values;
  auto require = [&](const std::string& column, const std::string& value) {
    sql += " AND " + column + " = ?";
    values.push_back(value);
  };
  auto optional = [&](const std::string& column, const std::string& value) {
    if (!value.empty()) require(column, value);
  };
  optional("runs.kernel", filter.kernel);
  optional("runs.shape", filter.shape);
  optional("runs.dtype", filter.dtype);
  optional("runs.target", filter.target);
  optional("runs.strategy", filter.strategy);
  optional("runs.id", filter.run);
  if (filter.fingerprint) {
    require("runs.fp_description", filter.fingerprint->description);
    require("runs.fp_isa", filter.fingerprint->isa);
    require("runs.fp_clock", filter.fingerprint->clock);
    require("runs.fp_runner", filter.fingerprint->runner);
  }
  if (filter.kind) require("trials.kind", std::string(name(*filter.kind)));
  if (filter.row) sql += " AND trials.row = " + std::to_string(*filter.row);
  if (!filter.id.empty()) {
    sql += " AND substr(trials.id, 1, " + std::to_string(filter.id.size()) + ") = ?";
    values.push_back(filter.id);
  }
  if (filter.successes) sql += " AND trials.stage IS NULL";
  sql += filter.best ? " ORDER BY trials.score IS NULL, trials.cycles, trials.row"
                     : " ORDER BY trials.row";
  if (filter.limit > 0) sql += " LIMIT " + std::to_string(filter.limit);
  Statement select = db_->prepare(sql);
  for (const std::string& value : values) select.bind(value);
  while (select.step()) {
    Result<Trial> trial = readTrial(select);
    if (!trial.ok()) return trial.error();
    Result<Run> run = readRun(select);
    if (!run.ok()) return run.error();
    fn({std::move(trial).value(), std::move(run).value().settings});
  }
  return db_->status(select);
}

Result<std::vector<Record>> Log::query(const Filter& filter) const {
  std::vector<Record> out;
  Status s = forEach(filter, [&](const Record& record) { out.push_back(record); });
  if (!s.ok()) return s.error();
  return out;
}

Result<std::vector<Run>> Log::runs() const {
  std::vector<Run> out;
  Statement select =
      db_->prepare("SELECT " + std::string(kRunColumns) + " FROM runs ORDER BY started, id");
  while (select.step()) {
    Result<Run> run = readRun(select);
    if (!run.ok()) return run.error();
    out.push_back(std::move(run).value());
  }
  if (Status s = db_->status(select); !s.ok()) return s.error();
  return out;
}

std::string defaultPath() {
  const char* given = std::getenv("DOJO_LOG");
  return given != nullptr && *given != '\0' ? given : "dojo.sqlite";
}

}  // namespace dojo::log
