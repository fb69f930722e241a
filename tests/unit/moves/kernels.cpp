// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Every applicable move on every kernel in small sizes: the result is valid and computes the same,
/// and its way back gives the text again; then the same along random chains.
#include "kernels/kernels.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "base/text.h"
#include "ir/check.h"
#include "ir/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "moves/move.h"
#include "moves/rule.h"
#include "support/some_target.h"

namespace dojo {

namespace {

/// The kernel with small extents.
ir::Program small(const kernels::Kernel& kernel) {
  static const std::map<std::string, std::int64_t> sizes = {{"N", 4}, {"M", 8}, {"K", 6},
                                                            {"C", 2}, {"H", 5}, {"W", 6}};
  ir::ParseOptions options;
  for (const auto& [name, value] : kernel.shape) {
    if (const auto size = sizes.find(name); size != sizes.end())
      options.params[name] = size->second;
  }
  auto parsed = kernels::load(kernel.name, options);
  REQUIRE((parsed.ok() ? "" : parsed.error().text()) == std::string());
  return parsed->program;
}

std::string textOf(const Result<ir::Program>& result) {
  return result.ok() ? ir::print(*result) : result.error().text();
}

using Hashes = std::vector<std::vector<std::uint64_t>>;

Hashes computed(const ir::Program& program) {
  auto result = ir::interpretExact(program, 7);
  if (!result.ok()) return {{0}, {contentHash(result.error().text())}};
  return *result;
}

/// One step: valid, equal, and back.
void checkStep(const ir::Program& before, const target::Target& target, const moves::Move& move,
               const ir::Program& after, const Hashes& expected) {
  INFO("BEFORE\n"
       << ir::print(before) << "MOVE " << moves::toString(move) << "\nAFTER\n"
       << ir::print(after));
  const Status valid = ir::check(after);
  REQUIRE((valid.ok() ? "" : valid.error().text()) == std::string());
  REQUIRE(computed(after) == expected);
  REQUIRE(ir::print(ir::parse(ir::print(after))->program) == ir::print(after));
  const moves::Trace back = moves::undo(before, target, move, after);
  INFO("BACK\n" << moves::toString(back));
  REQUIRE(textOf(moves::replay(after, target, back)) == ir::print(before));
}

}  // namespace

TEST_CASE("every applicable move on every kernel") {
  const target::Target target = test::someTarget();
  for (const kernels::Kernel& kernel : kernels::list()) {
    INFO(kernel.name);
    const ir::Program program = small(kernel);
    const Hashes expected = computed(program);
    const std::vector<moves::Move> all = moves::applicable(program, target);
    CHECK_FALSE(all.empty());
    for (const moves::Move& move : all) {
      const auto after = moves::apply(program, target, move);
      INFO(moves::toString(move));
      REQUIRE((after.ok() ? "" : after.error().text()) == std::string());
      checkStep(program, target, move, *after, expected);
    }
  }
}

TEST_CASE("random chains on every kernel, and back") {
  const target::Target target = test::someTarget();
  std::mt19937_64 random(1);
  for (const kernels::Kernel& kernel : kernels::list()) {
    INFO(kernel.name);
    const ir::Program start = small(kernel);
    const Hashes expected = computed(start);
    for (int chain = 0; chain < 3; ++chain) {
      ir::Program program = start;
      std::vector<moves::Trace> ways;
      for (int step = 0; step < 30; ++step) {
        const moves::State state(program, target);
        const auto& nodes = state.nodes();
        const auto offered = moves::applicableAt(state, nodes[random() % nodes.size()].path);
        if (offered.empty()) continue;
        const moves::Move& move = offered[random() % offered.size()];
        auto after = moves::apply(state, move);
        INFO(moves::toString(move));
        REQUIRE((after.ok() ? "" : after.error().text()) == std::string());
        checkStep(program, target, move, *after, expected);
        ways.push_back(moves::undo(state, move, *after));
        program = std::move(*after);
      }
      for (auto way = ways.rbegin(); way != ways.rend(); ++way) {
        auto before = moves::replay(program, target, *way);
        REQUIRE(before.ok());
        program = std::move(*before);
      }
      REQUIRE(ir::print(program) == ir::print(start));
    }
  }
}

}  // namespace dojo
