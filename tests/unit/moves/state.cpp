// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "ir/parse.h"
#include "moves/coverage.h"
#include "moves/rule.h"
#include "support/some_target.h"

namespace dojo {

namespace {

ir::Program program(const std::string& text) {
  auto parsed = ir::parse(text);
  INFO(text);
  REQUIRE((parsed.ok() ? "" : parsed.error().text()) == std::string());
  return parsed->program;
}

const char* const kReused = R"(kernel k
in x f32 [8]
out y f32 [8]
out z f32 [8]
tmp t f32 [~8] @register

8
| t[{0}] = exp(x[{0}])
| y[{0}] = t[{0}] * 3
8
| t[{0}] = x[{0}] * x[{0}]
| z[{0}] = t[{0}] * 5
)";

}  // namespace

TEST_CASE("a buffer's place is the first leaf that writes it") {
  const target::Target target = test::someTarget();
  const moves::State state(program(kReused), target);
  const auto at = [&](const ir::Path& place) {
    std::vector<std::string> names;
    for (const ir::BufferId id : state.buffersAt(*state.visit(place))) {
      names.push_back(state.program().buffer(id).name);
    }
    return names;
  };
  CHECK(at({0, 0}) == std::vector<std::string>{"x", "t"});  // x is never written.
  CHECK(at({0, 1}) == std::vector<std::string>{"y"});
  CHECK(at({1, 0}).empty());
  CHECK(at({1, 1}) == std::vector<std::string>{"z"});
  CHECK(at({0}).empty());
  CHECK(state.visit({0, 2}) == nullptr);
  CHECK(state.visit({}) == nullptr);
}

TEST_CASE("values that reach comparisons and integers are known") {
  const target::Target target = test::someTarget();
  const moves::State state(program(R"(kernel k
in x f32 [8]
in w f32 [8]
out n i32 [8]
out y f32 [8]
tmp a f32 [8]
tmp b bool [8]
tmp c f32 [8]

8
| a[{0}] = x[{0}] * 3
| c[{0}] = exp(w[{0}])
| n[{0}] = cast(a[{0}])
| b[{0}] = c[{0}] < 1
| y[{0}] = select(b[{0}], w[{0}], 0)
)"),
                           target);
  const auto reaches = [&](const std::string& name) {
    return state.reachesDecision(*state.program().find(name));
  };
  CHECK(reaches("a"));
  CHECK(reaches("x"));
  CHECK(reaches("c"));
  CHECK(reaches("w"));
  CHECK_FALSE(reaches("y"));
  CHECK_FALSE(reaches("n"));
}

TEST_CASE("storage that is written anew carries nothing from one execution to another") {
  const auto local = [](const std::string& text, const std::string& name,
                        const std::vector<moves::Block>& blocks) {
    const ir::Program parsed = program(text);
    const ir::Accesses accesses(parsed);
    return moves::localTo(accesses, *parsed.find(name), blocks);
  };
  const moves::Block first{{0}, 0, 2};
  const moves::Block second{{1}, 0, 2};
  CHECK(local(kReused, "t", {first, second}));
  CHECK(local(kReused, "t", {first}));  // The second loop writes t before it reads it.
  CHECK_FALSE(local(kReused, "t", {moves::Block{{0}, 0, 1}, moves::Block{{0}, 1, 2}}));
  CHECK_FALSE(local(kReused, "y", {first}));  // Not a tmp.
  const std::string carried = R"(kernel k
in x f32 [8]
out y f32 [8]
out last f32 []
tmp t f32 []

t[] = 0
8
| y[{0}] = t[]
| t[] = x[{0}]
last[] = t[]
)";
  CHECK_FALSE(local(carried, "t", {moves::Block{{1}, 0, 2}}));
  const std::string out = R"(kernel k
in x f32 [8]
out y f32 [8]
out last f32 []
tmp t f32 []

8
| t[] = exp(x[{0}])
| y[{0}] = t[] * 3
last[] = t[]
)";
  CHECK_FALSE(local(out, "t", {moves::Block{{0}, 0, 2}}));  // The last value is used later.
}

}  // namespace dojo
