// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "log/log.h"

#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dojo;
namespace fs = std::filesystem;

namespace {

/// A folder of its own, removed at the end.
struct Folder {
  fs::path path;
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "dojo-log-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path = pattern;
  }
  ~Folder() { fs::remove_all(path); }
  std::string operator/(const std::string& name) const { return (path / name).string(); }
};

log::RunSettings settings(const std::string& kernel = "matmul",
                          const std::string& target = "host") {
  log::RunSettings s;
  s.kernel = kernel;
  s.source = "kernel " + kernel + "\n";
  s.shape = "M=16,N=16,K=16";
  s.dtype = "f32";
  s.target = target;
  s.fingerprint = {"hash-" + target, "isa-" + target, "tsc 2 GHz", "runner 1"};
  s.strategy = "annealing";
  s.seed = 0xffffffffffffffffULL;
  s.trials = 20;
  s.tool = "0.1.0";
  return s;
}

log::Trial success(const std::string& run, std::int64_t index, double cycles) {
  Measurement m;
  m.samples = {cycles + 0.1, cycles, 1.0 / 3.0};
  m.ratios = {0.1, 0.2};
  m.cycles = cycles;
  m.score = cycles / 7;
  m.spread = 0.01;
  m.counter = "tsc";
  m.callsPerSample = 12;
  m.worstError = 0.25;
  m.comparedElements = 99;
  m.skippedElements = 1;
  log::Trial t;
  t.run = run;
  t.index = index;
  t.program = "kernel \"x\", y\n\n4\n| a[{0}] = 0\n";
  t.trace = "split_scope @0 4\n";
  t.outcome = {m, {0.1, 0.2, 0.3, 0.4, 0.5}};
  t.wallSeconds = 1.5;
  return t;
}

log::Trial failure(const std::string& run, std::int64_t index) {
  log::Trial t;
  t.run = run;
  t.index = index;
  t.program = "kernel k\n";
  t.outcome.result = Failure{Stage::verify, "verify.mismatch", "element 3 of y is off"};
  return t;
}

}  // namespace

TEST_CASE("a trial reads back as it was written") {
  Folder folder;
  auto log = log::Log::open(folder / "a.sqlite", log::Log::Mode::write);
  REQUIRE(log.ok());
  auto run = log->resume(settings());
  REQUIRE(run.ok());
  REQUIRE(run->settings == settings());
  auto row = log->append(success(run->id, 0, 1000));
  REQUIRE(row.ok());
  REQUIRE(log->append(failure(run->id, 1)).ok());
  auto trials = log->trials(run->id, log::Kind::search);
  REQUIRE(trials.ok());
  REQUIRE(trials->size() == 2);
  const log::Trial& got = (*trials)[0];
  const log::Trial want = success(run->id, 0, 1000);
  CHECK(got.row == row->row);
  CHECK(got.id == row->id);
  CHECK(got.program == want.program);
  CHECK(got.trace == want.trace);
  CHECK(got.wallSeconds == want.wallSeconds);
  CHECK(got.outcome.time.queue == 0.5);
  REQUIRE(got.outcome.ok());
  const Measurement& m = got.outcome.measurement();
  CHECK(m.samples == want.outcome.measurement().samples);
  CHECK(m.ratios == want.outcome.measurement().ratios);
  CHECK(m.score == want.outcome.measurement().score);
  CHECK(m.callsPerSample == 12);
  CHECK(m.comparedElements == 99);
  const log::Trial& bad = (*trials)[1];
  REQUIRE_FALSE(bad.outcome.ok());
  CHECK(bad.outcome.failure().stage == Stage::verify);
  CHECK(bad.outcome.failure().code == "verify.mismatch");
  CHECK(bad.outcome.failure().detail == "element 3 of y is off");
}

TEST_CASE("the same settings continue a run, others don't") {
  Folder folder;
  auto log = log::Log::open(folder / "a.sqlite", log::Log::Mode::write);
  REQUIRE(log.ok());
  std::string first = log->resume(settings())->id;
  CHECK(log->resume(settings())->id == first);
  log::RunSettings other = settings();
  other.seed = 2;
  CHECK(log->resume(other)->id != first);
  other = settings();
  other.fingerprint.isa = "another";
  CHECK(log->resume(other)->id != first);
  CHECK(log->start(settings())->id != first);
  CHECK(log->resume(settings())->id == first);
  REQUIRE(log->end(*log->resume(settings())).ok());
  CHECK_FALSE(log->resume(settings())->ended.empty());
}

TEST_CASE("an index is taken once: the first row stands") {
  Folder folder;
  auto log = log::Log::open(folder / "a.sqlite", log::Log::Mode::write);
  REQUIRE(log.ok());
  std::string run = log->resume(settings())->id;
  auto a = log->append(success(run, 0, 100));
  auto b = log->append(success(run, 0, 200));
  REQUIRE(b.ok());
  CHECK(b->id == a->id);
  CHECK(b->outcome.measurement().cycles == 100);
  CHECK(log->trials(run, log::Kind::search)->size() == 1);
}

TEST_CASE("what belongs together is committed together") {
  Folder folder;
  auto log = log::Log::open(folder / "a.sqlite", log::Log::Mode::write);
  auto run = log->resume(settings());
  REQUIRE(run.ok());
  std::vector<log::Trial> finals = {success(run->id, 0, 10), success(run->id, 1, 20)};
  auto rows = log->append(finals);
  REQUIRE(rows.ok());
  CHECK((*rows)[1].row == (*rows)[0].row + 1);
  CHECK(log->trials(run->id, log::Kind::search)->size() == 2);
  // The second of these has a run that doesn't exist: the first isn't there either.
  finals = {success(run->id, 2, 10), success("nobody's", 3, 20)};
  CHECK_FALSE(log->append(finals).ok());
  CHECK(log->trials(run->id, log::Kind::search)->size() == 2);
  CHECK(log->append(success(run->id, 2, 30)).ok());
}

TEST_CASE("a question for one target never returns another's rows") {
  Folder folder;
  auto one = log::Log::open(folder / "one.sqlite", log::Log::Mode::write);
  auto two = log::Log::open(folder / "two.sqlite", log::Log::Mode::write);
  REQUIRE(one.ok());
  REQUIRE(two.ok());
  REQUIRE(one->append(success(one->resume(settings("matmul", "host"))->id, 0, 1)).ok());
  REQUIRE(two->append(success(two->resume(settings("matmul", "snitch"))->id, 0, 2)).ok());
  REQUIRE(one->merge(folder / "two.sqlite").ok());
  log::Filter filter;
  filter.kernel = "matmul";
  CHECK(one->query(filter)->size() == 2);
  filter.target = "snitch";
  REQUIRE(one->query(filter)->size() == 1);
  CHECK(one->query(filter)->front().settings.target == "snitch");
  filter.target = "snit";
  CHECK(one->query(filter)->empty());
  filter.target = "host";
  filter.fingerprint = settings("matmul", "snitch").fingerprint;
  CHECK(one->query(filter)->empty());
}

TEST_CASE("filters and the best first") {
  Folder folder;
  auto log = log::Log::open(folder / "a.sqlite", log::Log::Mode::write);
  REQUIRE(log.ok());
  std::string run = log->resume(settings())->id;
  REQUIRE(log->append(success(run, 0, 300)).ok());
  REQUIRE(log->append(failure(run, 1)).ok());
  auto best = log->append(success(run, 2, 100));
  REQUIRE(best.ok());
  log::Filter filter;
  filter.best = true;
  auto all = log->query(filter);
  REQUIRE(all->size() == 3);
  CHECK(all->front().trial.row == best->row);
  CHECK_FALSE(all->back().trial.outcome.ok());
  filter.limit = 1;
  CHECK(log->query(filter)->size() == 1);
  log::Filter byRow;
  byRow.row = best->row;
  CHECK(log->query(byRow)->front().trial.id == best->id);
  log::Filter byId;
  byId.id = best->id.substr(0, 13);
  CHECK(log->query(byId)->size() == 1);
  byId.id = "'; DROP TABLE trials; --";
  CHECK(log->query(byId)->empty());
}

TEST_CASE("merging twice adds nothing the second time, and never into itself") {
  Folder folder;
  auto one = log::Log::open(folder / "one.sqlite", log::Log::Mode::write);
  auto two = log::Log::open(folder / "two.sqlite", log::Log::Mode::write);
  REQUIRE(one->append(success(one->resume(settings())->id, 0, 1)).ok());
  std::string theirs = two->resume(settings())->id;
  REQUIRE(two->append(success(theirs, 0, 2)).ok());
  REQUIRE(two->append(failure(theirs, 1)).ok());
  auto merged = one->merge(folder / "two.sqlite");
  REQUIRE(merged.ok());
  CHECK(merged->added == 2);
  CHECK(merged->present == 0);
  merged = one->merge(folder / "two.sqlite");
  REQUIRE(merged.ok());
  CHECK(merged->added == 0);
  CHECK(merged->present == 2);
  merged = one->merge(folder / "one.sqlite");
  REQUIRE(merged.ok());
  CHECK(merged->added == 0);
  CHECK(one->runs()->size() == 2);
  CHECK(one->verify().ok());
  CHECK(one->merge(folder / "none.sqlite").error().code == "log.missing");
}

TEST_CASE("exports carry every field") {
  Folder folder;
  auto log = log::Log::open(folder / "a.sqlite", log::Log::Mode::write);
  std::string run = log->resume(settings())->id;
  REQUIRE(log->append(success(run, 0, 123.25)).ok());
  REQUIRE(log->append(failure(run, 1)).ok());
  auto records = log->query({});
  REQUIRE(records.ok());
  auto json = nlohmann::json::parse(log::toJson((*records)[0]));
  CHECK(json["kernel"] == "matmul");
  CHECK(json["cycles"] == 123.25);
  CHECK(json["samples"].get<std::vector<double>>() ==
        (*records)[0].trial.outcome.measurement().samples);
  CHECK(json["target_isa"] == "isa-host");
  CHECK(json["seed"] == 0xffffffffffffffffULL);
  CHECK(json["source"] == "kernel matmul\n");
  json = nlohmann::json::parse(log::toJson((*records)[1]));
  CHECK(json["ok"] == false);
  CHECK(json["cycles"].is_null());
  CHECK(json["stage"] == "verify");
  std::string header = log::csvHeader();
  std::string line = log::toCsv((*records)[0]);
  CHECK(line.find("\"kernel \"\"x\"\", y\n") != std::string::npos);
  // As many unquoted commas as in the header.
  auto commas = [](const std::string& text) {
    bool inside = false;
    int n = 0;
    for (char c : text) {
      if (c == '"') inside = !inside;
      if (c == ',' && !inside) ++n;
    }
    return n;
  };
  CHECK(commas(line) == commas(header));
  CHECK(commas(log::toCsv((*records)[1])) == commas(header));
}

TEST_CASE("files that can't be a log get one sentence each") {
  Folder folder;
  auto code = [](const std::string& path, log::Log::Mode mode = log::Log::Mode::write) {
    auto log = log::Log::open(path, mode);
    REQUIRE_FALSE(log.ok());
    CHECK(log.error().where == path);
    CHECK(log.error().message.find('\n') == std::string::npos);
    return log.error().code;
  };
  CHECK(code(folder / "no/such/folder/a.sqlite") == "log.unwritable");
  CHECK(code(folder.path.string()) == "log.unwritable");
  CHECK(code(folder / "none.sqlite", log::Log::Mode::read) == "log.missing");
  std::ofstream(folder / "text") << std::string(5000, 'x');
  CHECK(code(folder / "text") == "log.not-a-log");
  CHECK(fs::file_size(folder / "text") == 5000);
  std::ofstream(folder / "empty");
  CHECK(code(folder / "empty", log::Log::Mode::read) == "log.not-a-log");
  CHECK(code("/dev/full") == "log.full");
  CHECK(code("/proc/version") == "log.unwritable");
  {
    auto log = log::Log::open(folder / "new.sqlite", log::Log::Mode::write);
    REQUIRE(log.ok());
  }
  // A later format, then damage.
  {
    std::fstream file(folder / "new.sqlite", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(60);
    file.write("\0\0\0\x63", 4);
  }
  CHECK(code(folder / "new.sqlite") == "log.version");
}

TEST_CASE("a log that somebody else keeps can be read") {
  Folder folder;
  {
    auto log = log::Log::open(folder / "a.sqlite", log::Log::Mode::write);
    std::string run = log->resume(settings())->id;
    REQUIRE(log->append(success(run, 0, 1000)).ok());
  }
  fs::permissions(folder / "a.sqlite", fs::perms{0444});
  fs::permissions(folder.path, fs::perms{0555});
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(77);
    auto write = log::Log::open(folder / "a.sqlite", log::Log::Mode::write);
    if (write.ok() || write.error().code != "log.unwritable") _exit(2);
    auto log = log::Log::open(folder / "a.sqlite", log::Log::Mode::read);
    if (!log.ok()) _exit(3);
    auto rows = log->query({});
    _exit(rows.ok() && rows->size() == 1 ? 0 : 4);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  fs::permissions(folder.path, fs::perms{0755});
  CHECK(WIFEXITED(status));
  if (WEXITSTATUS(status) != 77) CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("names that mean something else to SQLite are names of files") {
  Folder folder;
  CHECK(log::Log::open("", log::Log::Mode::write).error().code == "log.missing");
  const fs::path before = fs::current_path();
  fs::current_path(folder.path);
  {
    auto log = log::Log::open(":memory:", log::Log::Mode::write);
    REQUIRE(log.ok());
  }
  CHECK(fs::exists(folder / ":memory:"));
  fs::current_path(before);
}

TEST_CASE("a damaged file is found") {
  Folder folder;
  {
    auto log = log::Log::open(folder / "a.sqlite", log::Log::Mode::write);
    std::string run = log->resume(settings())->id;
    for (int k = 0; k < 50; ++k) REQUIRE(log->append(success(run, k, 1000 + k)).ok());
    CHECK(log->verify().ok());
  }
  {
    std::fstream file(folder / "a.sqlite", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(3 * 4096);
    file << std::string(8192, '\x55');
  }
  auto log = log::Log::open(folder / "a.sqlite", log::Log::Mode::read);
  if (log.ok()) {
    CHECK_FALSE(log->verify().ok());
  } else {
    CHECK(log.error().code == "log.damaged");
  }
}

TEST_CASE("kill -9 at random moments loses no committed trial and repeats none") {
  Folder folder;
  const std::string path = folder / "a.sqlite";
  const std::int64_t budget = 400;
  std::mt19937 random(7);
  std::int64_t acknowledged = 0;
  for (int round = 0; round < 50; ++round) {
    int pipe[2];
    REQUIRE(::pipe(pipe) == 0);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      ::close(pipe[0]);
      auto log = log::Log::open(path, log::Log::Mode::write);
      if (!log.ok()) _exit(1);
      auto run = log->resume(settings());
      if (!run.ok()) _exit(2);
      auto done = log->trials(run->id, log::Kind::search);
      if (!done.ok()) _exit(3);
      for (std::int64_t k = static_cast<std::int64_t>(done->size()); k < budget; ++k) {
        auto row = log->append(success(run->id, k, 1000.0 + static_cast<double>(k)));
        if (!row.ok()) _exit(4);
        std::int64_t count = k + 1;
        if (::write(pipe[1], &count, sizeof count) != sizeof count) _exit(5);
      }
      _exit(0);
    }
    ::close(pipe[1]);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 12000));
    kill(child, SIGKILL);
    std::int64_t count = 0;
    while (::read(pipe[0], &count, sizeof count) == sizeof count) acknowledged = count;
    ::close(pipe[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status)) REQUIRE(WEXITSTATUS(status) == 0);
    auto log = log::Log::open(path, log::Log::Mode::write);
    REQUIRE(log.ok());
    auto trials = log->trials(log->resume(settings())->id, log::Kind::search);
    REQUIRE(trials.ok());
    REQUIRE(static_cast<std::int64_t>(trials->size()) >= acknowledged);
    for (std::size_t k = 0; k < trials->size(); ++k) {
      REQUIRE((*trials)[k].index == static_cast<std::int64_t>(k));
    }
  }
  auto log = log::Log::open(path, log::Log::Mode::write);
  CHECK(log->runs()->size() == 1);
  CHECK(log->verify().ok());
}

TEST_CASE("two writers on one log") {
  Folder folder;
  const std::string path = folder / "a.sqlite";
  std::vector<pid_t> children;
  for (int writer = 0; writer < 3; ++writer) {
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      auto log = log::Log::open(path, log::Log::Mode::write);
      if (!log.ok()) _exit(1);
      // Two of the three have the same settings.
      log::RunSettings mine = settings();
      if (writer == 2) mine.seed = 5;
      auto run = log->resume(mine);
      if (!run.ok()) _exit(2);
      for (int k = 0; k < 100; ++k) {
        if (!log->append(success(run->id, k, 10.0 * writer + k)).ok()) _exit(3);
      }
      _exit(0);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    REQUIRE(WIFEXITED(status));
    REQUIRE(WEXITSTATUS(status) == 0);
  }
  auto log = log::Log::open(path, log::Log::Mode::read);
  REQUIRE(log.ok());
  CHECK(log->runs()->size() == 2);
  CHECK(log->query({})->size() == 200);
  CHECK(log->verify().ok());
}

TEST_CASE("a run keeps what was given first, also in a merged log") {
  Folder folder;
  const std::string path = folder / "a.sqlite", all = folder / "all.sqlite";
  const std::vector<std::string> first = {"split_scope @0 4\n", "", "\"quoted\""};
  std::string id;
  {
    auto log = log::Log::open(path, log::Log::Mode::write);
    REQUIRE(log.ok());
    const auto run = log->resume(settings());
    REQUIRE(run.ok());
    id = run->id;
    CHECK_FALSE(log->kept(*run, "warm start")->has_value());
    CHECK(*log->keep(*run, "warm start", first) == first);
    CHECK(*log->keep(*run, "warm start", {"later"}) == first);
    CHECK(log->keep(*run, "nothing", {})->empty());
    CHECK(log->kept(*run, "nothing")->value().empty());
  }
  auto merged = log::Log::open(all, log::Log::Mode::write);
  REQUIRE(merged.ok());
  REQUIRE(merged->merge(path).ok());
  const auto run = merged->resume(settings());
  REQUIRE(run.ok());
  CHECK(run->id == id);
  CHECK(merged->kept(*run, "warm start")->value() == first);
}
