// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measuring commands: run, tune, replay, log.
#include <set>

#include "unit/cli/run_dojo.h"

using dojo::test::Child;
using dojo::test::Folder;
using dojo::test::jsonLines;
using dojo::test::Ran;
using dojo::test::runDojo;

namespace {

std::vector<std::string> tuneSmall(const std::string& log, const std::string& trials,
                                   const std::string& strategy = "annealing") {
  return {"tune",  "matmul", "--shape",    "M=16,N=32,K=8", "--trials", trials,
          "--log", log,      "--strategy", strategy,        "--json"};
}

nlohmann::json theObject(const Ran& ran) {
  INFO(ran.out << ran.err);
  const auto lines = jsonLines(ran.out);
  REQUIRE(lines.size() == 1);
  return lines[0];
}

}  // namespace

TEST_CASE("run verifies and measures") {
  const auto json = theObject(runDojo({"run", "softmax", "--shape", "N=8,M=32", "--json"}));
  CHECK(json["cycles"].get<double>() > 0);
  CHECK(json["worst_error"].get<double>() <= 1);
  CHECK(json["compared"].get<int>() > 0);
  CHECK(json["gflops"].get<double>() > 0);
  const auto text = runDojo({"run", "add", "--shape", "N=8,M=32"});
  CHECK(text.code == 0);
  CHECK(text.out.find("verified") != std::string::npos);
}

TEST_CASE("the expert's program is shown, verified, and tried by tune unless told not to") {
  const std::vector<std::string> small = {"softmax", "--shape", "N=16,M=64"};
  const auto with = [&](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), small.begin(), small.end());
    words.insert(words.end(), more.begin(), more.end());
    return runDojo(words);
  };
  const Ran shown = with({"show"}, {"--expert"});
  CHECK(shown.code == 0);
  CHECK(shown.out.find(":vector") != std::string::npos);
  const Ran ran = with({"run"}, {"--expert", "--json"});
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  Folder folder;
  const auto second = [&](const std::string& log, const std::vector<std::string>& more) {
    std::vector<std::string> options = {"--trials", "2", "--log", folder / log};
    options.insert(options.end(), more.begin(), more.end());
    CHECK(with({"tune"}, options).code == 0);
    const Ran exported = runDojo({"log", "export", "--log", folder / log});
    return jsonLines(exported.out).at(1)["program"].get<std::string>();
  };
  CHECK(second("a.sqlite", {}) == shown.out);
  CHECK(second("b.sqlite", {"--no-expert"}) != shown.out);
}

TEST_CASE("tune, look at the log, replay, go on") {
  Folder folder;
  const std::string log = folder / "a.sqlite";
  const auto first = runDojo(tuneSmall(log, "30"));
  CHECK(first.code == 0);
  const auto json = theObject(first);
  for (const char* key :
       {"kernel", "shape", "dtype", "target", "trials", "failures", "baseline_cycles",
        "best_cycles", "speedup", "program", "trace", "log_row"}) {
    CHECK(json.contains(key));
  }
  CHECK(json["trials"] == 30);
  CHECK(json["failures"] == 0);
  CHECK(json["speedup"].get<double>() > 1);
  CHECK(json["program"].get<std::string>().find("kernel matmul") == 0);
  CHECK(json["best_cycles"].get<double>() <= json["baseline_cycles"].get<double>());
  CHECK(first.err.find("29 more trials take at most about") != std::string::npos);

  // The row is there and says the same.
  const std::string row = std::to_string(json["log_row"].get<int>());
  const auto shown = theObject(runDojo({"log", "show", row, "--log", log, "--json"}));
  CHECK(shown["program"] == json["program"]);
  CHECK(shown["trace"] == json["trace"]);
  CHECK(shown["cycles"] == json["best_cycles"]);
  CHECK(shown["samples"].size() >= 3);
  CHECK(runDojo({"log", "show", shown["id"].get<std::string>().substr(0, 9), "--log", log}).code ==
        0);

  // Again: nothing is measured twice.
  const auto again = theObject(runDojo(tuneSmall(log, "30")));
  CHECK(again["log_row"] == json["log_row"]);
  CHECK(again["program"] == json["program"]);
  const auto rows =
      jsonLines(runDojo({"log", "list", "--log", log, "--kind", "search", "--json"}).out);
  CHECK(rows.size() == 30);
  std::set<std::string> programs;
  for (const auto& r : rows) {
    programs.insert(r["program"].get<std::string>());
    const double parts = r["compile_s"].get<double>() + r["transfer_s"].get<double>() +
                         r["verify_s"].get<double>() + r["run_s"].get<double>() +
                         r["queue_s"].get<double>();
    CHECK(parts == Approx(r["wall_s"].get<double>()).epsilon(0.05));
  }
  CHECK(programs.size() == 30);
  CHECK(rows[0]["trace"] == "");

  const auto replayed = theObject(runDojo({"replay", row, "--log", log, "--json"}));
  CHECK(replayed["same_text"] == true);
  CHECK(replayed["same_device"] == true);
  CHECK(replayed["measured"]["cycles"].get<double>() > 0);

  CHECK(runDojo({"log", "verify", "--log", log}).code == 0);
  const auto csv = runDojo({"log", "export", "--log", log, "--format", "csv", "--limit", "2"});
  CHECK(csv.out.find("row,id,run,kind,index") == 0);
  CHECK(runDojo({"log", "runs", "--log", log}).out.find("annealing") != std::string::npos);
  const std::string other = folder / "b.sqlite";
  CHECK(runDojo({"log", "merge", log, "--log", other}).code == 0);
  CHECK(runDojo({"log", "list", "--log", other, "--json"}).out ==
        runDojo({"log", "list", "--log", log, "--json"}).out);
  CHECK(runDojo({"log", "list", "--log", log, "--target", "hos", "--json"}).out.empty());
}

TEST_CASE("Ctrl-C ends within two seconds, and the log goes on") {
  Folder folder;
  const std::string log = folder / "a.sqlite";
  Child child(tuneSmall(log, "100000"));
  // Until there is something to stop.
  for (int k = 0; k < 200; ++k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (child.err().find("trials, ") != std::string::npos) break;
  }
  const auto start = std::chrono::steady_clock::now();
  child.signal(SIGINT);
  CHECK(child.wait() == 1);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  CHECK(took.count() < 2);
  CHECK(child.err().find("goes on from here") != std::string::npos);
  const auto lines = jsonLines(child.out());
  REQUIRE(lines.size() == 1);
  CHECK(lines[0]["end"] == "stopped");
  CHECK(runDojo({"log", "verify", "--log", log}).code == 0);
}

TEST_CASE("two tuners on one log") {
  Folder folder;
  const std::string log = folder / "a.sqlite";
  Child one(tuneSmall(log, "25", "random"));
  Child two(tuneSmall(log, "25", "annealing"));
  CHECK(one.wait() == 0);
  CHECK(two.wait() == 0);
  CHECK(
      jsonLines(runDojo({"log", "list", "--log", log, "--kind", "search", "--json"}).out).size() ==
      50);
  CHECK(runDojo({"log", "verify", "--log", log}).code == 0);
}

TEST_CASE("where nothing can be measured, the first failure is told") {
  Folder folder;
  folder.write("warp.dojo",
               "kernel k\nin x f32 [8]\nout y f32 [8]\n\n8:warp\n| y[{0}] = x[{0}] * 2\n");
  const auto ran = runDojo({"tune", folder / "warp.dojo", "--trials", "3", "--log", folder / "a"});
  CHECK(ran.code == 1);
  CHECK(ran.err.find("lower.mapping") != std::string::npos);
}

TEST_CASE("questions without an answer say so, logs merge once, exports are whole or not there") {
  Folder folder;
  const std::string log = folder / "a.sqlite", all = folder / "all.sqlite";
  REQUIRE(runDojo(tuneSmall(log, "5")).code == 0);
  for (const std::string command : {"list", "export"}) {
    const auto none = runDojo({"log", command, "--log", log, "--target", "hos"});
    CHECK(none.code == 0);
    CHECK(none.out.empty());
    CHECK(none.err.find("no row is like that") != std::string::npos);
  }
  CHECK(runDojo({"log", "merge", log, "--log", all}).out.find(" 0 were there") !=
        std::string::npos);
  CHECK(runDojo({"log", "merge", log, "--log", all}).out.find(" 0 rows added") !=
        std::string::npos);
  folder.write("text", "this is no log, and long enough to be none");
  CHECK(runDojo({"log", "merge", folder / "text", "--log", folder / "new"}).code == 1);
  CHECK_FALSE(dojo::test::fs::exists(folder / "new"));
  CHECK(runDojo({"log", "export", "--log", log, "--output", log}).code == 2);
  CHECK(runDojo({"log", "verify", "--log", log}).code == 0);
  CHECK(runDojo({"log", "export", "--log", log, "--output", "/dev/full"}).code == 1);
  CHECK(runDojo({"log", "export", "--log", log, "--output", folder / "out"}).code == 0);
  CHECK(dojo::test::slurp(folder / "out") == runDojo({"log", "export", "--log", log}).out);
}

TEST_CASE("a time budget") {
  Folder folder;
  std::vector<std::string> args = tuneSmall(folder / "a.sqlite", "100000", "random");
  args.insert(args.end(), {"--time", "1"});
  const auto json = theObject(runDojo(args));
  CHECK(json["end"] == "time budget spent");
  CHECK(json["trials"].get<int>() > 1);
}
