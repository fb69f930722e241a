// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <filesystem>

#include "log/database.h"
#include "log/log.h"
#include "log/record.h"

namespace dojo::log {
namespace {

std::int64_t count(const Database& db, std::string_view sql) {
  Statement statement = db.prepare(sql);
  return statement.step() ? statement.integer() : -1;
}

}  // namespace

Result<Log::Merged> Log::merge(const std::string& otherPath) {
  // Opening it as a log proves that it is one of this format.
  Result<Log> other = Log::open(otherPath, Mode::read);
  if (!other.ok()) return other.error();
  std::error_code ignored;
  if (std::filesystem::equivalent(otherPath, db_->path(), ignored)) {
    return Merged{0, count(*db_, "SELECT count(*) FROM trials")};
  }
  {
    Statement attach = db_->prepare("ATTACH ? AS other");
    attach.bind(fileName(otherPath));
    attach.step();
    if (Status s = db_->status(attach); !s.ok()) return s.error();
  }
  struct Detach {
    Database& db;
    ~Detach() { (void)db.execute("DETACH other"); }
  } detach{*db_};
  Database::Transaction transaction(*db_);
  if (!transaction.begun().ok()) return transaction.begun().error();
  // A run that both files made under the same settings keeps its key here only once; the other
  // comes in as a run that can't be resumed.
  Status copied = db_->execute(
      "INSERT INTO runs(id, key, kernel, source, shape, dtype, target, fp_description, fp_isa, "
      "fp_clock, fp_runner, strategy, seed, trials, cache, tool, started, ended) "
      "SELECT id, CASE WHEN key IN (SELECT key FROM main.runs WHERE key IS NOT NULL) THEN NULL "
      "ELSE key END, kernel, source, shape, dtype, target, fp_description, fp_isa, fp_clock, "
      "fp_runner, strategy, seed, trials, cache, tool, started, ended FROM other.runs "
      "WHERE id NOT IN (SELECT id FROM main.runs)");
  if (!copied.ok()) return copied.error();
  if (count(*db_, "SELECT count(*) FROM other.sqlite_master WHERE name = 'kept'") == 1) {
    copied = db_->execute(
        "INSERT OR IGNORE INTO main.kept(run, name, texts) SELECT run, name, texts FROM other.kept "
        "WHERE run IN (SELECT id FROM main.runs)");
    if (!copied.ok()) return copied.error();
  }
  std::int64_t before = count(*db_, "SELECT count(*) FROM main.trials");
  std::int64_t theirs = count(*db_, "SELECT count(*) FROM other.trials");
  std::string fields(kTrialFields);
  copied = db_->execute("INSERT OR IGNORE INTO main.trials(" + fields + ") SELECT " + fields +
                        " FROM other.trials ORDER BY row");
  if (!copied.ok()) return copied.error();
  std::int64_t after = count(*db_, "SELECT count(*) FROM main.trials");
  if (Status s = transaction.commit(); !s.ok()) return s.error();
  return Merged{after - before, theirs - (after - before)};
}

Status Log::verify() const {
  {
    Statement check = db_->prepare("PRAGMA integrity_check");
    if (check.step()) {
      std::string verdict = check.text();
      if (verdict != "ok") {
        return Error{"log.damaged", "the log file is damaged: " + verdict, db_->path(), ""};
      }
    }
    if (Status s = db_->status(check); !s.ok()) return s;
  }
  const std::int64_t orphans =
      count(*db_, "SELECT count(*) FROM trials WHERE run NOT IN (SELECT id FROM runs)");
  if (orphans > 0) {
    return Error{"log.damaged", std::to_string(orphans) + " rows belong to no run", db_->path(),
                 ""};
  }
  return forEach(Filter{}, [](const Record&) {});
}

}  // namespace dojo::log
