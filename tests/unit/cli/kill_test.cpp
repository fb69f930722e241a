// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// kill -9 at random moments: no committed row is lost or changed, none is measured twice, trials
// add up. DOJO_KILLS sets how often (8).
#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "unit/cli/run_dojo.h"

using dojo::test::Child;
using dojo::test::Folder;
using dojo::test::jsonLines;
using dojo::test::Ran;
using dojo::test::runDojo;

namespace {

constexpr int kTrials = 60;

std::vector<std::string> tune(const std::string& log, int seed) {
  return {"tune",  "softmax", "--shape", "N=64,M=256",         "--trials", std::to_string(kTrials),
          "--log", log,       "--seed",  std::to_string(seed), "--json"};
}

/// By uuid.
std::map<std::string, nlohmann::json> rowsOf(const std::string& log) {
  std::map<std::string, nlohmann::json> out;
  for (nlohmann::json& row : jsonLines(runDojo({"log", "list", "--log", log, "--json"}).out)) {
    std::string id = row["id"];
    out.emplace(std::move(id), std::move(row));
  }
  return out;
}

void checkRows(const std::map<std::string, nlohmann::json>& rows) {
  std::set<std::string> places, programs;
  for (const auto& [id, row] : rows) {
    const std::string run = row["run"].get<std::string>() + row["kind"].get<std::string>();
    CHECK(places.insert(run + row["index"].dump()).second);
    if (row["kind"] == "search") {
      CHECK(programs.insert(run + row["program"].get<std::string>()).second);
    }
  }
}

}  // namespace

TEST_CASE("kill -9 of tune at random moments loses nothing and repeats nothing", "[time]") {
  const char* given = std::getenv("DOJO_KILLS");
  const int kills = given != nullptr ? std::atoi(given) : 8;
  Folder folder;
  const std::string log = folder / "a.sqlite";
  const auto start = std::chrono::steady_clock::now();
  REQUIRE(runDojo(tune(log, 1)).code == 0);
  const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - start;
  std::mt19937 random(static_cast<unsigned>(kills));
  std::map<std::string, nlohmann::json> before = rowsOf(log);
  int seed = 2, amid = 0;
  for (int done = 0; done < kills;) {
    Child child(tune(log, seed));
    std::this_thread::sleep_for(whole * std::uniform_real_distribution<double>(0, 1)(random));
    child.signal(SIGKILL);
    const int code = child.wait();
    if (code != -SIGKILL) {
      // It was quicker: the next run begins.
      CHECK(code == 0);
      ++seed;
      continue;
    }
    ++done;
    std::map<std::string, nlohmann::json> now = rowsOf(log);
    for (const auto& [id, row] : before) {
      const auto found = now.find(id);
      REQUIRE(found != now.end());
      CHECK(found->second == row);
    }
    checkRows(now);
    amid += now.size() > before.size() ? 1 : 0;
    before = std::move(now);
  }
  CHECK(amid > 0);
  for (int s = 1; s <= seed; ++s) CHECK(runDojo(tune(log, s)).code == 0);
  const auto rows = rowsOf(log);
  checkRows(rows);
  std::map<std::string, int> searched, runs;
  for (const auto& [id, row] : rows) {
    ++runs[row["run"]];
    if (row["kind"] == "search") ++searched[row["run"]];
  }
  CHECK(runs.size() == static_cast<std::size_t>(seed));
  for (const auto& [run, count] : searched) CHECK(count == kTrials);
  for (const auto& [id, row] : before) CHECK(rows.contains(id));
  CHECK(runDojo({"log", "verify", "--log", log}).code == 0);
}
