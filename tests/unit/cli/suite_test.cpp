// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tuning many kernels at once.
#include <map>
#include <set>

#include "unit/cli/run_dojo.h"

using dojo::test::Child;
using dojo::test::Folder;
using dojo::test::jsonLines;
using dojo::test::Ran;
using dojo::test::runDojo;

namespace {

const std::string kThree = "softmax:N=16,M=64,add:N=32,M=32,matmul:M=16,N=32,K=8";

std::vector<std::string> tuneThree(const std::string& log, std::vector<std::string> more) {
  more.insert(more.begin(), {"tune", "--suite", "--kernels", kThree, "--log", log, "--json"});
  return more;
}

nlohmann::json theObject(const Ran& ran) {
  INFO(ran.out << ran.err);
  const auto lines = jsonLines(ran.out);
  REQUIRE(lines.size() == 1);
  return lines[0];
}

/// Search rows by run; each program once in each.
std::map<std::string, std::set<std::string>> searched(const std::string& log) {
  std::map<std::string, std::set<std::string>> out;
  for (const auto& row :
       jsonLines(runDojo({"log", "list", "--log", log, "--kind", "search", "--json"}).out)) {
    CHECK(out[row["run"]].insert(row["program"]).second);
  }
  return out;
}

std::size_t finals(const std::string& log) {
  return jsonLines(runDojo({"log", "list", "--log", log, "--kind", "final", "--json"}).out).size();
}

}  // namespace

TEST_CASE("a suite within its trials, each figure with its row, again nothing is measured") {
  Folder folder;
  const std::string log = folder / "a.sqlite";
  const Ran ran = runDojo(tuneThree(log, {"--trials", "12"}));
  CHECK(ran.code == 0);
  const auto json = theObject(ran);
  REQUIRE(json["kernels"].size() == 3);
  for (const auto& one : json["kernels"]) {
    CHECK(one["trials"] == 12);
    CHECK(one["speedup"].get<double>() >= 1);
    CHECK(one["measured_again"] == true);
    const auto row = theObject(runDojo(
        {"log", "show", std::to_string(one["log_row"].get<int>()), "--log", log, "--json"}));
    CHECK(row["kernel"] == one["kernel"]);
    CHECK(row["shape"] == one["shape"]);
    CHECK(row["cycles"] == one["best_cycles"]);
  }
  const auto rows = searched(log);
  CHECK(rows.size() == 3);
  const std::size_t measuredAgain = finals(log);
  const auto again = theObject(runDojo(tuneThree(log, {"--trials", "12"})));
  for (std::size_t k = 0; k < 3; ++k) {
    for (const char* key : {"kernel", "run", "trials", "best_cycles", "plain_cycles", "log_row"}) {
      CHECK(again["kernels"][k][key] == json["kernels"][k][key]);
    }
  }
  CHECK(searched(log) == rows);
  CHECK(finals(log) == measuredAgain);
}

TEST_CASE("a suite that is killed goes on where it was, and later finds are measured again") {
  Folder folder;
  const std::string log = folder / "a.sqlite";
  const auto args = tuneThree(log, {"--trials", "4000", "--minutes", "0.1"});
  for (const int milliseconds : {1500, 2500}) {
    Child child(args);
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    child.signal(SIGKILL);
    CHECK(child.wait() == -SIGKILL);
  }
  const auto killed = searched(log);
  const auto start = std::chrono::steady_clock::now();
  const Ran ran = runDojo(args);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  CHECK(ran.code == 0);
  CHECK(took.count() < 15);
  const auto json = theObject(ran);
  const auto rows = searched(log);
  REQUIRE(rows.size() == 3);
  for (const auto& one : json["kernels"]) {
    const std::string run = one["run"];
    CHECK(one["trials"].get<std::size_t>() == rows.at(run).size());
    if (killed.contains(run)) {
      for (const std::string& program : killed.at(run)) CHECK(rows.at(run).contains(program));
    }
    CHECK(one["speedup"].get<double>() >= 1);
  }
  CHECK(runDojo({"log", "verify", "--log", log}).code == 0);
  // As one by one: the path of a search doesn't depend on its turns.
  const auto& first = json["kernels"][0];
  CHECK(first["kernel"] == "softmax");
  REQUIRE(runDojo({"tune", "softmax", "--shape", "N=16,M=64", "--trials", "4000", "--time", "0.5",
                   "--log", log})
              .code == 0);
  CHECK(searched(log).size() == 3);
}

TEST_CASE("Ctrl-C on a suite shows what there is") {
  Folder folder;
  const std::string log = folder / "a.sqlite";
  Child child(tuneThree(log, {"--trials", "100000"}));
  for (int k = 0; k < 200 && child.err().find("trials, ") == std::string::npos; ++k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  const auto start = std::chrono::steady_clock::now();
  child.signal(SIGINT);
  CHECK(child.wait() == 1);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(2));
  CHECK(child.err().find("goes on from here") != std::string::npos);
  const auto lines = jsonLines(child.out());
  REQUIRE(lines.size() == 1);
  CHECK(lines[0]["stopped"] == true);
  CHECK(lines[0]["kernels"][0]["best_cycles"].get<double>() > 0);
}

TEST_CASE("what a suite can't tune doesn't end the others, wrong words are told at once") {
  Folder folder;
  folder.write("warp.dojo",
               "kernel k\nin x f32 [8]\nout y f32 [8]\n\n8:warp\n| y[{0}] = x[{0}] * 2\n");
  const std::string log = folder / "a.sqlite";
  const Ran ran = runDojo({"tune", "--suite", "--kernels", folder / "warp.dojo,add:N=8,M=8",
                           "--trials", "3", "--log", log, "--json"});
  CHECK(ran.code == 1);
  const auto json = theObject(ran);
  CHECK_FALSE(json["kernels"][0].contains("best_cycles"));
  CHECK(json["kernels"][1]["best_cycles"].get<double>() > 0);
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"tune"},
                                                {"tune", "add", "--suite"},
                                                {"tune", "add", "--minutes", "1"},
                                                {"tune", "--suite", "--kernels", "sofmax"},
                                                {"tune", "--suite", "--kernels", "add,add"},
                                                {"tune", "--suite", "--kernels", ","},
                                                {"tune", "--suite", "--shape", "N=8"},
                                                {"tune", "--suite", "--kernels", "add:Q=8"},
                                                {"tune", "--suite", "--strategy", "anealing"}}) {
    std::vector<std::string> words = wrong;
    words.insert(words.end(), {"--log", folder / "none.sqlite"});
    INFO(words[1]);
    CHECK(runDojo(words).code == 2);
  }
  CHECK_FALSE(dojo::test::fs::exists(folder / "none.sqlite"));
}
