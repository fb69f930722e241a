// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/move.h"

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "ir/parse.h"
#include "ir/print.h"
#include "moves/rule.h"
#include "support/some_target.h"

namespace dojo {

namespace {

const char* const kScale = R"(kernel scale
in x f32 [64]
out y f32 [64]

64
| y[{0}] = x[{0}] * 3
)";

ir::Program scale() { return ir::parse(kScale)->program; }

std::string refusal(const std::string& line) {
  const auto move = moves::parseMove(line);
  if (!move) return move.error().code;
  const auto result = moves::apply(scale(), test::someTarget(), *move);
  return result.ok() ? "applied" : result.error().text();
}

}  // namespace

TEST_CASE("moves read and print the same") {
  for (const std::string line :
       {"split_scope @1.0 16", "set_location t3 register", "unroll @0", "combine @",
        "use @0 -4 \"two words\"", "use \"a \\\"quote\\\" \\\\ and\\nline\"", "use \"12\""}) {
    const auto move = moves::parseMove(line);
    INFO(line);
    REQUIRE(move.ok());
    CHECK(moves::toString(*move) == line);
    CHECK(*moves::parseMove(moves::toString(*move)) == *move);
  }
  const auto spaced = moves::parseMove("  split_scope   @1.0\t16  # a comment");
  REQUIRE(spaced.ok());
  CHECK(moves::toString(*spaced) == "split_scope @1.0 16");
}

TEST_CASE("malformed moves are refused") {
  for (const std::string line : {"", "  # only a comment", "@1.0", "12", "split @1.", "split @a",
                                 "split 1x", "split \"open", "\"split\" @0", "split @0 ?",
                                 "split @0 99999999999999999999", "split @-1", "split @1..2"}) {
    INFO(line);
    const auto move = moves::parseMove(line);
    REQUIRE_FALSE(move.ok());
    CHECK(move.error().code == "move.syntax");
  }
}

TEST_CASE("traces name the line of an error") {
  const auto good = moves::parseTrace("# tile\n\nsplit_scope @0 16\nunroll @0.0 # inner\n", "t");
  REQUIRE(good.ok());
  CHECK(moves::toString(*good) == "split_scope @0 16\nunroll @0.0\n");
  CHECK(*moves::parseTrace(moves::toString(*good), "t") == *good);
  const auto bad = moves::parseTrace("split_scope @0 16\nsplit_scope @0 16x\n", "best.trace");
  REQUIRE_FALSE(bad.ok());
  CHECK(bad.error().where == "best.trace:2");

  const auto failed = moves::replay(scale(), test::someTarget(),
                                    *moves::parseTrace("split_scope @0 16\nunroll @0.3\n", "t"));
  REQUIRE_FALSE(failed.ok());
  CHECK(failed.error().code == "move.place");
  CHECK(failed.error().where == "move 2 (unroll @0.3) at @0.3");
}

TEST_CASE("arguments are checked before a rule sees them") {
  CHECK(refusal("split_scope @0 16") == "applied");
  CHECK(refusal("splitscope @0 16") ==
        "there is no move 'splitscope'; did you mean 'split_scope'? [move.unknown]");
  CHECK(refusal("split_scope @0").find("[move.arguments]") != std::string::npos);
  CHECK(refusal("split_scope @0").find("usage: split_scope P f") != std::string::npos);
  CHECK(refusal("split_scope @0 16 2").find("[move.arguments]") != std::string::npos);
  CHECK(refusal("split_scope 16 @0").find("must be a place such as @1.0") != std::string::npos);
  CHECK(refusal("split_scope @0 x").find("must be a number") != std::string::npos);
  CHECK(refusal("split_scope @5 16") == "@5: the program has no node at this place [move.place]");
  CHECK(refusal("split_scope @0.0.0 16").find("[move.place]") != std::string::npos);
  CHECK(refusal("split_scope @ 16").find("[move.place]") != std::string::npos);
  for (const std::string f : {"0", "-1", "7", "65", "-9223372036854775808"}) {
    CHECK(refusal("split_scope @0 " + f).find("[move.extent]") != std::string::npos);
  }
}

TEST_CASE("what is applicable at the places is what is applicable") {
  const target::Target target = test::someTarget();
  const moves::State state(scale(), target);
  std::vector<std::string> all;
  for (const moves::Move& move : moves::applicable(state)) all.push_back(moves::toString(move));
  CHECK(std::find(all.begin(), all.end(), "split_scope @0 16") != all.end());
  CHECK(std::find(all.begin(), all.end(), "parallelize @0") != all.end());
  std::vector<std::string> byPlace;
  for (const ir::Visit& node : state.nodes()) {
    for (const moves::Move& move : moves::applicableAt(state, node.path)) {
      byPlace.push_back(moves::toString(move));
    }
  }
  std::sort(all.begin(), all.end());
  std::sort(byPlace.begin(), byPlace.end());
  CHECK(all == byPlace);
  CHECK(moves::applicableAt(state, {7}).empty());
}

}  // namespace dojo
