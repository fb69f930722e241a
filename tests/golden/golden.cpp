// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "base/text.h"
#include "cases.h"
#include "ir/check.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "moves/move.h"
#include "moves/rule.h"
#include "proof/prove_moves.h"
#include "support/some_target.h"

namespace dojo {

namespace {

const std::string kFolder = std::string(DOJO_SOURCE_DIR) + "/tests/golden";

bool updating() {
  const char* value = std::getenv("DOJO_GOLDEN");
  return value != nullptr && std::string_view(value) == "update";
}

std::vector<std::string> goldenFiles() {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".txt") out.push_back(entry.path().stem().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// Applies the moves one by one; each result must be valid, and each move's way back must give the
/// text before it. Fills in what happened.
void runCase(test::GoldenCase& golden) {
  const target::Target target = proof::withEverything(test::someTarget());
  const auto parsed = ir::parse(golden.program);
  REQUIRE((parsed.ok() ? "" : parsed.error().text()) == std::string());
  ir::Program program = parsed->program;
  golden.program = ir::print(program);
  const auto valid = ir::check(program);
  REQUIRE((valid.ok() ? "" : valid.error().text()) == std::string());
  const auto trace = moves::parseTrace(golden.moves, golden.title);
  REQUIRE((trace.ok() ? "" : trace.error().text()) == std::string());
  REQUIRE_FALSE(trace->empty());
  for (std::size_t i = 0; i < trace->size(); ++i) {
    const moves::Move& move = (*trace)[i];
    INFO(moves::toString(move));
    auto next = moves::apply(program, target, move);
    if (!next) {
      golden.outcome = "refuses";
      golden.expected = next.error().code + "\n";
      REQUIRE(i + 1 == trace->size());
      return;
    }
    INFO(ir::print(*next));
    const auto stillValid = ir::check(*next);
    CHECK((stillValid.ok() ? "" : stillValid.error().text()) == std::string());
    const moves::Trace back = moves::undo(program, target, move, *next);
    INFO(moves::toString(back));
    const auto before = moves::replay(*next, target, back);
    CHECK((before.ok() ? ir::print(*before) : before.error().text()) == ir::print(program));
    program = std::move(*next);
  }
  golden.outcome = "gives";
  golden.expected = ir::print(program);
}

}  // namespace

TEST_CASE("golden files of moves") {
  for (const std::string& name : goldenFiles()) {
    const std::string path = kFolder + "/" + name + ".txt";
    const auto text = readFile(path);
    REQUIRE(text.ok());
    auto file = test::parseGolden(*text);
    INFO(path);
    REQUIRE((file.ok() ? "" : file.error().text()) == std::string());
    REQUIRE_FALSE(file->cases.empty());
    for (test::GoldenCase& golden : file->cases) {
      INFO(golden.title);
      const test::GoldenCase expected = golden;
      runCase(golden);
      if (updating()) continue;
      CHECK(golden.program == expected.program);
      CHECK(golden.outcome == expected.outcome);
      CHECK(golden.expected == expected.expected);
    }
    if (updating()) REQUIRE(writeFile(path, test::toString(*file)).ok());
  }
}

TEST_CASE("every move has a golden file that applies it and one that refuses it") {
  const std::vector<std::string> files = goldenFiles();
  for (const moves::Rule* rule : moves::catalogue()) {
    const std::string name(rule->info().name);
    INFO(name);
    REQUIRE(std::find(files.begin(), files.end(), name) != files.end());
    const auto file = test::parseGolden(*readFile(kFolder + "/" + name + ".txt"));
    REQUIRE(file.ok());
    const auto has = [&](const std::string& outcome) {
      return std::any_of(
          file->cases.begin(), file->cases.end(), [&](const test::GoldenCase& golden) {
            return golden.outcome == outcome && golden.moves.find(name + " ") != std::string::npos;
          });
    };
    CHECK(has("gives"));
    CHECK(has("refuses"));
  }
}

}  // namespace dojo
