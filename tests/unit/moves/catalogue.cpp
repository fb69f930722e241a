// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "ir/check.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "moves/move.h"
#include "moves/rule.h"
#include "proof/prove_moves.h"
#include "support/some_target.h"

namespace dojo {

namespace {

ir::Program program(std::string_view text) {
  auto parsed = ir::parse(text);
  INFO(text);
  REQUIRE((parsed.ok() ? "" : parsed.error().text()) == std::string());
  return parsed->program;
}

std::string outcome(const Result<ir::Program>& result) {
  return result.ok() ? ir::print(*result) : result.error().text();
}

}  // namespace

TEST_CASE("documented examples do what they say, and back") {
  const target::Target target = proof::withEverything(test::someTarget());
  for (const moves::Rule* rule : moves::catalogue()) {
    const moves::RuleInfo& info = rule->info();
    INFO(info.name);
    const ir::Program before = program(info.before);
    CHECK(ir::print(before) == info.before);
    CHECK(ir::check(before).ok());
    const auto move = moves::parseMove(info.move);
    REQUIRE(move.ok());
    CHECK(move->name == info.name);
    const auto after = moves::apply(before, target, *move);
    CHECK(outcome(after) == info.after);
    if (!after.ok()) continue;
    CHECK(ir::check(*after).ok());
    const moves::Trace back = moves::undo(before, target, *move, *after);
    INFO(moves::toString(back));
    CHECK(outcome(moves::replay(*after, target, back)) == info.before);
    const auto offered = moves::applicable(before, target);
    CHECK(std::find(offered.begin(), offered.end(), *move) != offered.end());
  }
}

TEST_CASE("the catalogue is documented") {
  std::set<std::string_view> names;
  for (const moves::Rule* rule : moves::catalogue()) {
    const moves::RuleInfo& info = rule->info();
    INFO(info.name);
    CHECK(names.insert(info.name).second);
    CHECK(moves::findRule(info.name) == rule);
    CHECK(std::set<std::string_view>{"structure", "buffers", "computation", "mapping"}.count(
              info.group) == 1);
    CHECK_FALSE(info.effect.empty());
    CHECK_FALSE(info.needs.empty());
    CHECK_FALSE(info.inverse.empty());
    const std::string text = moves::describe(*rule);
    CHECK(text.find(info.effect) != std::string::npos);
    CHECK(text.find("    " + std::string(info.move) + "\n") != std::string::npos);
  }
}

}  // namespace dojo
