// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <map>

#include <catch2/catch.hpp>

#include "ir/check.h"
#include "ir/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "kernels/kernels.h"
#include "moves/lowerable.h"
#include "moves/rule.h"
#include "search/composite.h"
#include "search/position.h"
#include "support/some_target.h"
#include "unit/search/fake.h"

using namespace dojo;

namespace {

search::StatePtr stateOf(const ir::Program& program, const target::Target& target) {
  return std::make_shared<const moves::State>(program, target);
}

Result<search::Expansion> expand(const search::StatePtr& state, const std::string& call) {
  return search::expand(state, moves::parseMove(call).value());
}

/// Small and odd, so that blocks and vectors leave something over.
ir::Program small(const kernels::Kernel& kernel, std::optional<ir::DType> dtype = {}) {
  ir::ParseOptions options;
  options.dtype = dtype;
  for (const auto& [name, value] : kernel.shape) {
    options.params[name] = std::min<std::int64_t>(value, name == "N" ? 37 : 19);
  }
  return kernels::load(kernel.name, options)->program;
}

/// Vectors read a padded copy in steps.
const char* const kSteps = R"(kernel k
in x f32 [57]
in w f32 [3] finite
out y f32 [28]
tmp t0 f32 [58]

58
| t0[{0}] = 0
| t0[{0}] = x[{0} - 1] if {0} - 1 in [0, 57)
28
| y[{0}] = 0
3:unroll
| 28:vector
| | y[{1}] += w[{0}] * t0[{1}*2 + {0}]
)";

}  // namespace

TEST_CASE("register_block makes the blocked matmul") {
  const target::Target target = test::someTarget();
  auto made = expand(stateOf(test::matmul(), target), "register_block @0 4 2 0 2 0 2");
  REQUIRE(made.ok());
  CHECK(ir::print(made->state->program()) == R"(kernel matmul
in a f32 [32, 16]
in b f32 [16, 64]
out c f32 [32, 64]
tmp t1 f32 [16, 32]
tmp t0 f32 [4, 32] @register

2
| 16
| | 32:vector
| | | t1[{1}, {2}] = b[{1}, {0}*32 + {2}]
| 8
| | 4:unroll
| | | 32:vector
| | | | t0[{2}, {3}] = 0
| | 8
| | | 2:unroll
| | | | 4:unroll
| | | | | 32:vector
| | | | | | t0[{4}, {5}] fma+= a[{1}*4 + {4}, {2}*2 + {3}] * t1[{2}*2 + {3}, {5}]
| | 4:unroll
| | | 32:vector
| | | | c[{1}*4 + {2}, {0}*32 + {3}] = t0[{2}, {3}]
)");
  CHECK(moves::lowerable(made->state->program(), target).ok());
  // The record holds atomic moves only.
  for (const moves::Move& move : made->trace) CHECK(moves::findRule(move.name) != nullptr);
  CHECK(ir::print(moves::replay(test::matmul(), target, made->trace).value()) ==
        ir::print(made->state->program()));
}

TEST_CASE("vectorize_loop accumulates by lane") {
  const target::Target target = test::someTarget();
  const ir::Program sum = ir::parse(R"(kernel sum
in x f32 [70]
out y f32 []

y[] = 0
70
| y[] += x[{0}]
)")
                              ->program;
  auto made = expand(stateOf(sum, target), "vectorize_loop @1 2");
  REQUIRE(made.ok());
  CHECK(ir::print(made->state->program()) == R"(kernel sum
in x f32 [70]
out y f32 []
tmp t0 f32 [32] @register

y[] = 0
32:vector
| t0[{0}] = 0
2
| 32:vector
| | t0[{1}] += x[{0}*32 + {1}]
32:vector
| y[] += t0[{0}]
6:vector
| y[] += x[{0} + 64]
)");
}

TEST_CASE("turn takes a tile through registers") {
  const target::Target target = test::someTarget();
  const ir::Program transpose = ir::parse(R"(kernel transpose
in x f32 [32, 50]
out y f32 [50, 32]

50
| 32
| | y[{0}, {1}] = x[{1}, {0}]
)")
                                    ->program;
  auto made = expand(stateOf(transpose, target), "turn @0 1");
  REQUIRE((made ? "" : made.error().text()) == std::string());
  CHECK(ir::print(made->state->program()) == R"(kernel transpose
in x f32 [32, 50]
out y f32 [50, 32]
tmp t0 f32 [16, 16] @register

3
| 2
| | 16:unroll
| | | 16:vector
| | | | t0[{2}, {3}] = x[{1}*16 + {2}, {0}*16 + {3}]
| | 16:unroll
| | | 16:vector
| | | | y[{0}*16 + {2}, {1}*16 + {3}] = t0[{3}, {2}]
2
| 32
| | y[{0} + 48, {1}] = x[{1}, {0} + 48]
)");
  CHECK_FALSE(expand(stateOf(transpose, target), "turn @0 4").ok());
}

TEST_CASE("a refused composite says why and leaves nothing") {
  const target::Target target = test::someTarget();
  const search::StatePtr state = stateOf(test::matmul(), target);
  CHECK(expand(state, "register_block @0 14 6 0 0 0 1").error().code == "composite.pattern");
  CHECK(expand(state, "register_block @0.0.0 4 1 0 0 0 1").error().code == "composite.pattern");
  CHECK(expand(state, "register_block @0 4").error().code == "composite.arguments");
  CHECK(expand(state, "register_block c 4 1 0 0 0 1").error().code == "composite.arguments");
  CHECK(expand(state, "register_block @7 4 1 0 0 0 1").error().code == "composite.pattern");
  CHECK(expand(state, "vectorize_loop @9 1").error().code == "composite.pattern");
  CHECK(expand(state, "localize zz").error().code == "composite.pattern");
  CHECK(expand(state, "localize c").error().code == "composite.pattern");
  CHECK(expand(state, "fuse @0 1").ok() == false);
  CHECK(expand(state, "tile @0 999 999").error().code == "composite.pattern");
  CHECK(expand(state, "no_such_move @0").error().code == "move.unknown");
}

TEST_CASE("composites on every kernel give valid programs that compute the same") {
  // One with vectors, and one with data movers, hardware loops and an instruction of its own.
  const target::Target targets[] = {test::someTarget(), *target::load("snitch-dot8")};
  std::map<std::string, int> applied;
  search::Random random(11);
  std::vector<std::pair<ir::Program, const target::Target*>> cases;
  for (const target::Target& target : targets) {
    cases.emplace_back(ir::parse(kSteps)->program, &target);
    for (const kernels::Kernel& kernel : kernels::list()) {
      cases.emplace_back(small(kernel), &target);
      const std::vector<ir::Buffer>& buffers = cases.back().first.buffers;
      const bool floats = ir::isFloat(buffers.front().dtype);
      if (floats && target.streams.movers > 0) {
        cases.emplace_back(small(kernel, ir::DType::f64), &target);
      }
    }
  }
  // Blocks of whole instructions, and of pairs.
  ir::ParseOptions even;
  even.params = {{"M", 8}, {"N", 8}, {"K", 16}};
  for (int k = 0; k < 4; ++k) {
    cases.emplace_back(kernels::load("qmatmul", even)->program, &targets[1]);
    cases.emplace_back(kernels::load("matmul_nt", even)->program, &targets[1]);
  }
  for (const auto& [plain, target] : cases) {
    const search::StatePtr start = stateOf(plain, *target);
    const auto want = ir::interpretExact(plain, 1);
    REQUIRE(want.ok());
    for (int round = 0; round < 25; ++round) {
      search::Position at(start, {});
      for (int step = 0; step < 4; ++step) {
        auto call = search::sample(*at.state(), random);
        if (!call || !at.add(*call)) continue;
        ++applied[call->name];
      }
      INFO(plain.name << "\n" << moves::toString(at.toCandidate().trace) << at.toCandidate().text);
      const Status valid = ir::check(at.state()->program());
      INFO((valid.ok() ? "" : valid.error().text()));
      REQUIRE(valid.ok());
      const auto got = ir::interpretExact(at.state()->program(), 1);
      REQUIRE(got.ok());
      REQUIRE(*got == *want);
    }
  }
  for (const search::Composite* composite : search::composites()) {
    INFO(composite->info().name);
    CHECK(applied[std::string(composite->info().name)] > 0);
  }
}

TEST_CASE("turning a knob changes one of them") {
  search::Random random(3);
  const moves::Move call = *moves::parseMove("register_block @0 4 2 0 2 0 2");
  for (int k = 0; k < 50; ++k) {
    auto turned = search::turnKnob(call, random);
    REQUIRE(turned);
    int differences = 0;
    for (std::size_t a = 0; a < call.args.size(); ++a) {
      differences += turned->args[a] == call.args[a] ? 0 : 1;
    }
    CHECK(differences <= 1);
  }
  CHECK_FALSE(search::turnKnob(*moves::parseMove("localize t0"), random));
  CHECK_FALSE(search::turnKnob(*moves::parseMove("split_scope @0 4"), random));
}

TEST_CASE("code that takes longer to compile than it can bring isn't tried") {
  const target::Target target = test::someTarget();
  const auto unrolled = [&](const std::string& work, int copies) {
    const auto parsed = ir::parse(
        "kernel k\nin x f32 [512, 64]\nout y f32 [512, 64]\n\n512\n| 64\n| | " + work + "\n");
    const moves::Trace trace =
        moves::parseTrace("split_scope @0 " + std::to_string(copies) + "\nunroll @0.0", "").value();
    return stateOf(moves::replay(parsed->program, target, trace).value(), target);
  };
  CHECK(search::worthTrying(*unrolled("y[{0}, {1}] = x[{0}, {1}] * 2", 64)));
  CHECK_FALSE(search::worthTrying(*unrolled("y[{0}, {1}] = exp(x[{0}, {1}])", 64)));
  CHECK(search::worthTrying(*unrolled("y[{0}, {1}] = exp(x[{0}, {1}])", 8)));
}

TEST_CASE("a revised position keeps what is still possible") {
  const target::Target target = test::someTarget();
  search::Position at(stateOf(test::matmul(), target), {});
  REQUIRE(at.add(*moves::parseMove("split_scope @0 8")));
  REQUIRE(at.add(*moves::parseMove("unroll_by @0.0 4")));
  REQUIRE_FALSE(at.add(*moves::parseMove("unroll_by @5 4")));
  CHECK(at.steps().size() == 2);
  auto without = at.revised(0, std::nullopt);
  REQUIRE(without);
  CHECK(without->steps().size() == 1);
  auto other = at.revised(0, *moves::parseMove("split_scope @0 4"));
  REQUIRE(other);
  CHECK(other->steps().size() == 2);
  CHECK_FALSE(at.revised(0, *moves::parseMove("split_scope @0 7")));
}

TEST_CASE("what vectors read in steps is laid out by remainders") {
  const target::Target target = test::someTarget();
  search::Position at(stateOf(ir::parse(kSteps)->program, target), {});
  CHECK_FALSE(at.add(moves::parseMove("deinterleave x").value()));
  REQUIRE(at.add(moves::parseMove("deinterleave t0").value()));
  CHECK(ir::print(at.state()->program()) == R"(kernel k
in x f32 [57]
in w f32 [3] finite
out y f32 [28]
tmp t0 f32 [2, 29]

29
| 2
| | t0[{1}, {0}] = 0
| | t0[{1}, {0}] = x[{0}*2 + {1} - 1] if {0}*2 + {1} - 1 in [0, 57)
28
| y[{0}] = 0
2:unroll
| 28:vector
| | y[{1}] += w[{0}] * t0[{0}, {1}]
1:unroll
| 28:vector
| | y[{1}] += w[{0} + 2] * t0[{0}, {1} + 1]
)");
}
