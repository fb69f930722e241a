// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A log with anything in it. The first byte says what the rest is:
//   0 (mod 3): the whole file;
//   1: changes of a good log's file, [offset, 2 bytes][count][bytes]...;
//   2: a value for a column of it, [column][type][value].
// Opening, checking, reading, exporting, writing and merging give an answer, whatever it is.
#include "log/log.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <sqlite3.h>

#include "base/text.h"
#include "scratch.h"

using namespace dojo;

namespace {

const std::string& file() {
  static const std::string path = fuzz::scratch() + "/a.sqlite";
  return path;
}

void removeLog(const std::string& path) {
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    std::remove((path + suffix).c_str());
  }
}

log::RunSettings settings() {
  log::RunSettings s;
  s.kernel = "matmul";
  s.source = "kernel matmul\n";
  s.shape = "M=16";
  s.dtype = "f32";
  s.target = "host";
  s.fingerprint = {"description", "isa", "tsc 2 GHz", "runner 1"};
  s.strategy = "annealing";
  s.seed = 7;
  s.trials = 20;
  s.tool = "0.1.0";
  return s;
}

std::vector<log::Trial> trials(const std::string& run) {
  log::Trial good, bad;
  good.run = bad.run = run;
  good.program = "kernel matmul\n\n4\n| a[{0}] = 0\n";
  good.trace = "split_scope @0 4\n";
  Measurement m;
  m.samples = {1000.5, 1001};
  m.ratios = {0.5, 0.25};
  m.cycles = 1000.5;
  m.score = 0.25;
  m.counter = "tsc";
  good.outcome.result = m;
  bad.index = 1;
  bad.outcome.result = Failure{Stage::verify, "verify.mismatch", "element 3 of y is off"};
  return {good, bad};
}

/// The bytes of a log: of one without rows, and of one with a run and two rows.
std::string bytesOfLog(bool rows) {
  removeLog(file());
  {
    log::Log log = log::Log::open(file(), log::Log::Mode::write).value();
    if (rows) {
      const log::Run run = log.resume(settings()).value();
      (void)log.append(trials(run.id)).value();
    }
  }
  return readFile(file()).value();
}

const std::string& emptyLog() {
  static const std::string bytes = bytesOfLog(false);
  return bytes;
}

const std::string& goodLog() {
  static const std::string bytes = bytesOfLog(true);
  return bytes;
}

void writeChanged(std::span<const std::uint8_t> changes) {
  std::string bytes = goodLog();
  while (changes.size() >= 4) {
    const std::size_t at = changes[0] | std::size_t{changes[1]} << 8;
    const std::size_t count = std::min<std::size_t>(changes[2], changes.size() - 3);
    for (std::size_t k = 0; k < count && at + k < bytes.size(); ++k) {
      bytes[at + k] = static_cast<char>(changes[3 + k]);
    }
    changes = changes.subspan(3 + count);
  }
  fuzz::write(file(), bytes.data(), bytes.size());
}

void writeValue(std::span<const std::uint8_t> input) {
  if (input.size() < 2) return;
  static const std::vector<std::pair<const char*, const char*>> columns = {
      {"trials", "id"},       {"trials", "run"},
      {"trials", "kind"},     {"trials", "idx"},
      {"trials", "program"},  {"trials", "trace"},
      {"trials", "stage"},    {"trials", "code"},
      {"trials", "detail"},   {"trials", "cycles"},
      {"trials", "score"},    {"trials", "spread"},
      {"trials", "counter"},  {"trials", "cache"},
      {"trials", "censored"}, {"trials", "calls"},
      {"trials", "samples"},  {"trials", "ratios"},
      {"trials", "compared"}, {"trials", "worst_error"},
      {"trials", "wall"},     {"trials", "time"},
      {"runs", "id"},         {"runs", "key"},
      {"runs", "kernel"},     {"runs", "source"},
      {"runs", "fp_isa"},     {"runs", "strategy"},
      {"runs", "seed"},       {"runs", "trials"},
      {"runs", "started"},    {"runs", "tool"}};
  fuzz::write(file(), goodLog().data(), goodLog().size());
  const auto& [table, column] = columns[input[0] % columns.size()];
  const std::uint8_t type = input[1];
  input = input.subspan(2);
  sqlite3* db = nullptr;
  sqlite3_open(file().c_str(), &db);
  const std::string sql = std::string("UPDATE ") + table + " SET " + column + " = ?";
  sqlite3_stmt* update = nullptr;
  sqlite3_prepare_v2(db, sql.c_str(), -1, &update, nullptr);
  const auto* text = reinterpret_cast<const char*>(input.data());
  const auto length = static_cast<int>(input.size());
  std::int64_t number = 0;
  std::memcpy(&number, input.data(), std::min(input.size(), sizeof number));
  double real = 0;
  std::memcpy(&real, &number, sizeof real);
  switch (type % 5) {
    case 0:
      sqlite3_bind_text(update, 1, text, length, SQLITE_TRANSIENT);
      break;
    case 1:
      sqlite3_bind_blob(update, 1, text, length, SQLITE_TRANSIENT);
      break;
    case 2:
      sqlite3_bind_int64(update, 1, number);
      break;
    case 3:
      sqlite3_bind_double(update, 1, real);
      break;
    default:
      sqlite3_bind_null(update, 1);
      break;
  }
  sqlite3_step(update);
  sqlite3_finalize(update);
  sqlite3_close(db);
}

void check(const Error& error) {
  DOJO_CHECK(error.code.starts_with("log.") && !error.message.empty(), error.text());
}

void read() {
  Result<log::Log> log = log::Log::open(file(), log::Log::Mode::read);
  if (!log.ok()) {
    check(log.error());
    return;
  }
  const Status good = log->verify();
  if (!good.ok()) check(good.error());
  std::int64_t rows = 0;
  const Status all = log->forEach({}, [&](const log::Record& record) {
    ++rows;
    (void)log::toCsv(record);
    DOJO_CHECK(!log::toJson(record).empty(), "a row without JSON");
  });
  // What verify() calls whole reads back whole.
  if (good.ok()) DOJO_CHECK(all.ok(), all.error().text());
  log::Filter filter;
  filter.kernel = "matmul";
  filter.fingerprint = settings().fingerprint;
  filter.best = true;
  (void)log->query(filter);
  if (const auto runs = log->runs(); runs.ok() && !runs->empty()) {
    (void)log->trials(runs->front().id, log::Kind::search);
  }
}

void write() {
  static const std::string other = fuzz::scratch() + "/other.sqlite";
  {
    removeLog(other);
    fuzz::write(other, emptyLog().data(), emptyLog().size());
    Result<log::Log> merged = log::Log::open(other, log::Log::Mode::write);
    if (!merged.ok()) return;
    const auto added = merged->merge(file());
    if (!added.ok()) check(added.error());
    const Status good = merged->verify();
    if (!good.ok()) check(good.error());
  }
  Result<log::Log> log = log::Log::open(file(), log::Log::Mode::write);
  if (!log.ok()) {
    check(log.error());
    return;
  }
  const Result<log::Run> run = log->resume(settings());
  if (!run.ok()) {
    check(run.error());
    return;
  }
  const auto added = log->append(trials(run->id));
  if (!added.ok()) check(added.error());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  (void)emptyLog();
  (void)goodLog();
  removeLog(file());
  switch (data[0] % 3) {
    case 0:
      fuzz::write(file(), data + 1, size - 1);
      break;
    case 1:
      writeChanged({data + 1, size - 1});
      break;
    default:
      writeValue({data + 1, size - 1});
      break;
  }
  read();
  write();
  return 0;
}
