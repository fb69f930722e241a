// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arithmetic of a contest's figures, what is written of them, and a contest of the smallest
// kind.
#include <cmath>
#include <cstdio>
#include <filesystem>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include "base/text.h"
#include "performance/agents/arena.h"
#include "performance/agents/curves.h"
#include "performance/agents/players.h"

using namespace dojo;
using namespace dojo::contest;

namespace {

Row row(const std::string& kernel, const std::string& strategy, std::uint64_t seed, double best) {
  Row out;
  out.kernel = kernel;
  out.target = "there";
  out.strategy = strategy;
  out.seed = seed;
  out.plain = 1000;
  out.best = best;
  out.trials = 3;
  out.curve = {1000, best * 2, best};
  out.seconds = 3 * static_cast<double>(seed);
  out.strategySeconds = 0.3;
  out.elapsed = {1.0 * static_cast<double>(seed), 2.0 * static_cast<double>(seed),
                 3.0 * static_cast<double>(seed)};
  return out;
}

std::vector<Row> rows() {
  std::vector<Row> out;
  const auto add = [&](const char* kernel, const char* strategy, std::vector<double> bests) {
    for (std::size_t k = 0; k < bests.size(); ++k)
      out.push_back(row(kernel, strategy, k + 1, bests[k]));
  };
  add("a", "random", {100, 120, 90, 110, 300});
  add("a", "annealing", {80, 80, 80, 80, 80});
  add("a", "perfllm", {55, 50, 45, 60, 20});
  add("b", "random", {10, 10, 10, 10, 10});
  add("b", "annealing", {40, 40, 40, 40, 40});
  add("b", "perfllm", {20, 20, 20, 21, 19});
  return out;
}

/// What a command prints, and its status.
std::pair<int, std::string> output(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  char chunk[4096];
  while (std::fgets(chunk, sizeof chunk, pipe) != nullptr) text += chunk;
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text};
}

}  // namespace

TEST_CASE("contest: medians and spreads") {
  CHECK(median({3}) == 3);
  CHECK(median({4, 1, 2, 3}) == 2.5);
  CHECK(spread({7}) == 0);
  CHECK(spread({5, 1, 2, 4, 3}) == 2);
  CHECK(spread({1, 2}) == 0.5);
}

TEST_CASE("contest: a summary by hand") {
  const Table table(rows());
  REQUIRE(table.fields() == std::vector<Field>{{"a", "there"}, {"b", "there"}});
  CHECK(table.cell({"a", "there"}, "random")->median == 110);
  CHECK(table.cell({"a", "there"}, "random")->spread == 20);
  CHECK(table.cell({"a", "there"}, "perfllm")->median == 50);
  // 80 / 50 and 40 / 20; 110 / 50 and 10 / 20.
  CHECK(*table.advantage("perfllm", "annealing") == Approx(std::sqrt(1.6 * 2)));
  CHECK(*table.advantage("perfllm", "random") == Approx(std::sqrt(2.2 * 0.5)));
  CHECK_FALSE(table.advantage("perfllm", "nobody").has_value());
  CHECK(table.below("perfllm", "random") == std::vector<Field>{{"b", "there"}});
  // 110 is above 80 by more than the larger spread, 20.
  CHECK(table.below("random", "annealing") == std::vector<Field>{{"a", "there"}});
  // Where the seeds differ more than the medians do, nobody is below.
  std::vector<Row> wide = rows();
  for (std::size_t k = 0; k < 5; ++k) wide[25 + k].best = std::vector<double>{5, 8, 20, 60, 70}[k];
  CHECK(Table(wide).below("perfllm", "random").empty());
}

TEST_CASE("contest: a search that found nothing doesn't count") {
  std::vector<Row> some = {row("a", "random", 1, 0), row("a", "random", 2, 50),
                           row("a", "perfllm", 1, 0)};
  const Table table(some);
  CHECK(table.cell({"a", "there"}, "random")->seeds == 1);
  CHECK(table.cell({"a", "there"}, "perfllm") == nullptr);
  CHECK_FALSE(table.advantage("perfllm", "random").has_value());
  const auto json = toJson(some);
  CHECK(json["rows"][0]["best_cycles"].is_null());
  CHECK(json["summary"]["vs_random"].is_null());
  CHECK(toText(some).find("-") != std::string::npos);
}

TEST_CASE("contest: the best so far by trials and by time") {
  const Row one = row("a", "random", 2, 50);
  CHECK(one.after(0) == 0);
  CHECK(one.after(1) == 1000);
  CHECK(one.after(2) == 100);
  CHECK(one.after(99) == 50);
  CHECK(one.at(1.9) == 0);
  CHECK(one.at(2) == 1000);
  CHECK(one.at(5.9) == 100);
  CHECK(one.at(6) == 50);
  // Random took 3 and 6 seconds, perfllm 6: 4.5 s are what all have.
  const Table table = Table::atEqualTime(
      {row("a", "random", 1, 50), row("a", "random", 2, 60), row("a", "perfllm", 2, 30)});
  CHECK(table.seconds({"a", "there"}) == 4.5);
  CHECK(table.cell({"a", "there"}, "random")->median == (50 + 120) / 2.0);
  CHECK(table.cell({"a", "there"}, "perfllm")->median == 60);
}

TEST_CASE("contest: what the JSON has") {
  const auto json = toJson(rows());
  const auto& summary = json["summary"];
  CHECK(summary["vs_annealing"].get<double>() == Approx(std::sqrt(3.2)));
  CHECK(summary["vs_random"].get<double>() == Approx(std::sqrt(1.1)));
  CHECK(summary["kernels_below_random"] == nlohmann::json::array({"b on there"}));
  REQUIRE(json["rows"].size() == 30);
  const auto& first = json["rows"][0];
  CHECK(first["kernel"] == "a");
  CHECK(first["target"] == "there");
  CHECK(first["strategy"] == "random");
  CHECK(first["seed"] == 1);
  CHECK(first["best_cycles"] == 100);
  CHECK(first["trials"] == 3);
  CHECK(first["seconds"] == 3);
  CHECK(first["agent_share"].get<double>() == Approx(0.1));
  CHECK(first["best_after"]["3"] == 100);
  CHECK(json["medians"].size() == 6);
  CHECK(milestones(200) == std::vector<std::int64_t>{10, 20, 50, 100, 200});
}

TEST_CASE("contest: transfer by what was trained on") {
  std::vector<Row> some = {row("a", kUnlearned, 1, 40), row("a", kSubject, 1, 20),
                           row("b", kUnlearned, 1, 30), row("b", kSubject, 1, 10)};
  some.push_back(row("b", kSubject, 1, 10));
  some.back().target = "elsewhere";
  const auto transfers = transfersOf(some, {"a"}, {"there"});
  REQUIRE(transfers.size() == 3);
  CHECK(transfers[0].where == "kernels trained on, targets trained on");
  CHECK(*transfers[0].advantage == Approx(2));
  CHECK(*transfers[1].advantage == Approx(3));
  CHECK(transfers[2].where == "other kernels, other targets");
  CHECK_FALSE(transfers[2].advantage.has_value());
  CHECK(toJson(transfers)[1]["vs_untrained"].get<double>() == Approx(3));
  CHECK(toText(transfers).find("3.000 times") != std::string::npos);
}

TEST_CASE("contest: curves have a line and a band for each strategy") {
  std::vector<Row> some;
  for (const Row& one : rows()) {
    if (one.kernel == "a") some.push_back(one);
  }
  const std::string svg = drawCurves(some, "a <b> & c", "cycles");
  CHECK(svg.find("a &lt;b> &amp; c") != std::string::npos);
  std::size_t bands = 0, at = 0;
  while ((at = svg.find("opacity", at + 1)) != std::string::npos) ++bands;
  CHECK(bands == 3);
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(drawCurves({}, "nothing", "cycles").find("nothing was measured") != std::string::npos);
  some[0].curve = {0, 0, 0};
  CHECK(drawCurves({some[0]}, "none", "cycles").find("nothing was measured") != std::string::npos);
}

TEST_CASE("contest: names of kernels with shapes") {
  const auto some = subjectsOf("softmax,matmul:M=8,N=6,K=4,add");
  REQUIRE(some.ok());
  REQUIRE(some->size() == 3);
  CHECK((*some)[0].shape == heldOut()[1].shape);
  CHECK((*some)[1].shape == std::map<std::string, std::int64_t>{{"M", 8}, {"N", 6}, {"K", 4}});
  CHECK((*some)[2].shape.empty());
  for (const char* text : {"M=3", "matmul:M=", "matmul:M=x", "matmul:M", "matmul:M=-1"}) {
    INFO(text);
    CHECK_FALSE(subjectsOf(text).ok());
  }
}

TEST_CASE("contest: players by name, and the counts of words") {
  CHECK(playerOf("annealing", {})->logged == "annealing");
  const auto unknown = playerOf("anealing", {});
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().text().find("annealing") != std::string::npos);
  const auto counted = playerOf("perfllm, counts of words", {});
  REQUIRE(counted.ok());
  WordCounts counts;
  const auto both = counts.embed({"ab + ab", "+ ab ab", "ab"});
  REQUIRE(both.ok());
  bool same = true, other = false;
  for (std::size_t k = 0; k < counts.width(); ++k) {
    same = same && (*both)(0, k) == (*both)(1, k);
    other = other || (*both)(0, k) != (*both)(2, k);
  }
  CHECK(same);
  CHECK(other);
}

TEST_CASE("contest: of the smallest kind, measured once") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("contest-" + std::to_string(getpid()));
  fs::remove_all(folder);
  const std::string command = std::string(DOJO_BINARY_DIR) +
                              "/bin/agents --kernels dot:N=24 --targets host --strategies "
                              "'random;perfllm, counts of words' --seeds 1 --trials 6 --json "
                              "--folder " +
                              folder.string() + " 2>&1 >" + folder.string() + ".json";
  const auto [status, told] = output(command);
  INFO(told);
  REQUIRE(status == 0);
  const auto first = readFile(folder.string() + ".json");
  REQUIRE(first.ok());
  const auto json = nlohmann::json::parse(*first);
  REQUIRE(json["rows"].size() == 2);
  for (const auto& one : json["rows"]) {
    CHECK(one["trials"] == 6);
    CHECK(one["best_cycles"].get<double>() > 0);
    CHECK(one["seconds"].get<double>() > 0);
    CHECK(one["agent_share"].get<double>() < 1);
  }
  CHECK(readFile((folder / "dot-host.svg").string())->find("</svg>") != std::string::npos);
  REQUIRE(output(command).first == 0);
  CHECK(*readFile(folder.string() + ".json") == *first);
  fs::remove_all(folder);
  fs::remove(folder.string() + ".json");
}
