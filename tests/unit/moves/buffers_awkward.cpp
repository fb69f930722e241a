// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Chains of buffer and computation moves on programs that are harder than kernels: guards at
/// borders, gathers, data-dependent extents, double buffers, prefix sums, accumulators that are
/// read in their scope. Each result is valid, computes the same, and the way back gives the text
/// again.
#include <random>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "ir/check.h"
#include "ir/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "moves/move.h"
#include "moves/rule.h"
#include "support/some_target.h"

namespace dojo {

namespace {

const char* const kPrograms[] = {
    R"(kernel borders
in x f32 [10]
in w f32 [3]
inout z f32 [12]
out y f32 [10]

10
| y[{0}] = 0
| 3
| | y[{0}] += x[{0} + {1} - 1] * w[{1}] if {0} + {1} in [1, 11)
4
| 3
| | z[{0}*3 + {1}] *= 2 if {0}*3 + {1} in [0, 10)
)",
    R"(kernel padded
in x f32 [4, 6]
in v i16 [6]
in w f32 [3, 3] finite
out y f32 [4, 6]
out z i64 [6]

4
| 6
| | y[{0}, {1}] = 0
| | 3
| | | 3
| | | | y[{0}, {1}] += x[{0} + {2} - 1, {1} + {3} - 1] * w[{2}, {3}] if {0} + {2} - 1 in [0, 4) and {1} + {3} - 1 in [0, 6)
6
| z[{0}] = 1
| 2
| | z[{0}] *= v[{0}*2 - {1}] if {0}*2 - {1} in [0, 6)
)",
    R"(kernel gathers
in i i32 [8] in [0, 16)
in row i32 [9] monotone in [0, 20]
in col i32 [20] in [0, 16)
in v f32 [20]
in x f32 [16]
out y f32 [8]
out z f32 [8]
tmp t f32 [16]

16
| t[{0}] = x[{0}] * 2
8
| y[{0}] = t[i[{0}]]
8
| z[{0}] = 0
| row[{0}]..row[{0} + 1]
| | z[{0}] += v[{1}] * x[col[{1}]]
)",
    R"(kernel prefix
in x f32 [8, 12]
out y f32 [8, 12]
out p f32 [12]
tmp t f32 [13]
tmp d f32 [12~2]
tmp s f32 [8]

t[0] = 0
12
| t[{0} + 1] = t[{0}] + x[0, {0}]
12
| d[{0}] = exp(x[1, {0}])
| p[{0}] = t[{0}] * d[{0}]
8
| s[{0}] = 1
| 12
| | s[{0}] += x[{0}, {1}]
| 12
| | y[{0}, {1}] = x[{0}, {1}] / s[{0}]
)",
    R"(kernel decisions
in a i8 [6, 8]
in b i8 [8, 4]
out c i32 [6, 4]
out m i32 [4]
out q bool [6]
tmp f f32 [6]

6
| f[{0}] = 0
| 4
| | c[{0}, {1}] = 0
| | 8
| | | c[{0}, {1}] += a[{0}, {2}] * b[{2}, {1}]
4
| m[{0}] = c[0, {0}]
6
| 4
| | m[{1}] max= c[{0}, {1}]
6
| 8
| | f[{0}] += cast(a[{0}, {1}], f32)
| q[{0}] = f[{0}] < 3
)",
    R"(kernel rows
in x f32 [6, 8]
in g f32 [8]
out y f32 [6, 8]
out n f32 [6]
tmp a f32 [~6, 8]
tmp b f32 [6, 8]
tmp u f32 [8]

6
| 8
| | a[{0}, {1}] = x[{0}, {1}] * g[{1}]
| 8
| | b[{0}, {1}] = a[{0}, {1}] + g[{1}]
| 8
| | u[{1}] = fma(b[{0}, {1}], a[{0}, {1}], 1)
| n[{0}] = inf
| 8
| | n[{0}] min= u[{1}]
| 8
| | y[{0}, {1}] = u[{1}] / n[{0}] if {1} in [0, 5)
| 8
| | y[{0}, {1}] = u[{1}] if {1} in [5, 8)
)",
    R"(kernel products
in x f32 [16]
in s f32 []
out y f32 [16]
out z f32 [2]
tmp t f32 [16]
tmp r f32 []

z[0] = 1
z[1] = 1
16
| t[{0}] = x[15 - {0}] / s
| t[{0}] += x[{0}] * x[15 - {0}]
| z[0] *= t[{0}]
4
| r[] = 0
| 4
| | r[] += t[{0}*4 + {1}] * t[{0} + {1}*4]
| 4
| | y[{0} + {1}*4] = r[] / s
| z[1] *= r[]
)",
    R"(kernel exponentials
in x f32 [8]
out s f32 []
tmp m f32 []
tmp e f32 [8]

m[] = -inf
s[] = 0
8
| m[] max= x[{0}]
8
| e[{0}] = x[{0}] - m[]
| s[] += exp(e[{0}])
)",
    R"(kernel bytes
in a i8 [3, 4]
in b i8 [4]
out c i32 [3]

3
| c[{0}] = 0
| 4
| | c[{0}] += a[{0}, {1}] * b[{1}]
)"};

bool isOurs(const moves::Move& move) {
  const std::string_view group = moves::findRule(move.name)->info().group;
  return group == "buffers" || group == "computation";
}

/// A move at a random place, each rule as likely as another; those of other groups less often, and
/// first of all one of ours that hasn't been played.
std::optional<moves::Move> chooseMove(const moves::State& state, std::mt19937_64& random,
                                      const std::set<std::string>& played) {
  const auto& nodes = state.nodes();
  const auto offered = moves::applicableAt(state, nodes[random() % nodes.size()].path);
  std::set<std::string> names;
  for (const moves::Move& move : offered) {
    if (isOurs(move) && played.count(move.name) == 0) return move;
    names.insert(move.name);
  }
  if (names.empty()) return std::nullopt;
  const std::string& name = *std::next(names.begin(), static_cast<int>(random() % names.size()));
  std::vector<moves::Move> chosen;
  for (const moves::Move& move : offered) {
    if (move.name == name) chosen.push_back(move);
  }
  const moves::Move& move = chosen[random() % chosen.size()];
  if (!isOurs(move) && random() % 3 != 0) return std::nullopt;
  return move;
}

void playChain(const ir::Program& start, std::mt19937_64& random, std::set<std::string>& played) {
  const target::Target target = test::someTarget();
  const auto expected = ir::interpretExact(start, 5);
  REQUIRE(expected.ok());
  ir::Program program = start;
  std::vector<moves::Trace> ways;
  for (int step = 0; step < 40 && ir::nodeCount(program) < 50; ++step) {
    const moves::State state(program, target);
    const auto move = chooseMove(state, random, played);
    if (!move) continue;
    auto next = moves::apply(state, *move);
    INFO("BEFORE\n" << ir::print(program) << "MOVE " << moves::toString(*move));
    REQUIRE((next.ok() ? "" : next.error().text()) == std::string());
    INFO("AFTER\n" << ir::print(*next));
    const Status valid = ir::check(*next);
    REQUIRE((valid.ok() ? "" : valid.error().text()) == std::string());
    const auto computed = ir::interpretExact(*next, 5, {random(), 1 << 20});
    REQUIRE((computed.ok() ? "" : computed.error().text()) == std::string());
    REQUIRE(*computed == *expected);
    ways.push_back(moves::undo(state, *move, *next));
    const auto back = moves::replay(*next, target, ways.back());
    INFO("BACK\n" << moves::toString(ways.back()));
    REQUIRE((back.ok() ? ir::print(*back) : back.error().text()) == ir::print(program));
    played.insert(move->name);
    for (const moves::Move& way : ways.back()) played.insert(way.name);
    program = std::move(*next);
  }
  for (auto way = ways.rbegin(); way != ways.rend(); ++way) {
    auto before = moves::replay(program, target, *way);
    REQUIRE(before.ok());
    program = std::move(*before);
  }
  CHECK(ir::print(program) == ir::print(start));
}

}  // namespace

TEST_CASE("buffer and computation moves on awkward programs, and back") {
  std::mt19937_64 random(11);
  std::set<std::string> played;
  for (const char* text : kPrograms) {
    const auto parsed = ir::parse(text);
    REQUIRE((parsed.ok() ? "" : parsed.error().text()) == std::string());
    const Status valid = ir::check(parsed->program);
    REQUIRE((valid.ok() ? "" : valid.error().text()) == std::string());
    for (int chain = 0; chain < 8; ++chain) playChain(parsed->program, random, played);
  }
  // The chains are long enough to have met every move.
  for (const moves::Rule* rule : moves::catalogue()) {
    const std::string name(rule->info().name);
    INFO(name);
    if (isOurs({name, {}})) CHECK(played.count(name) == 1);
  }
}

TEST_CASE("a read that never happens is no reason to copy what its storage lost") {
  const auto start = ir::parse(R"(kernel k
tmp b f16 [~2]
out y f16 []

b[0] = 1
b[1] = 1
y[] = 0
1
| 1 if 0 in [2, 7)
| | 1
| | | y[] = b[-{2}]
)");
  REQUIRE(start.ok());
  const auto move = moves::parseMove("cache_read @3 b heap");
  const auto next = moves::apply(start->program, test::someTarget(), *move);
  REQUIRE_FALSE(next.ok());
  CHECK(next.error().code == "move.unwritten");
}

}  // namespace dojo
