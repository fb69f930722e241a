// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Moves that were wrong once, as random play found them: MoveFailure::text() without the result.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "ir/parse.h"
#include "ir/print.h"
#include "proof/prove_moves.h"
#include "support/some_target.h"

using namespace dojo;

namespace {

const std::vector<std::string> kCases = {
    R"(# undo: the way back (materialize_dim t0 0) is refused
kernel random
in  x f64 [1]
out y f64 [1]
out z f64 [1]
tmp t0 f64 [1]

1
| t0[{0}] = x[{0}]
| y[{0}] = t0[-{0}]
1
| z[{0}] = t0[{0}]

# move
reuse_dim t0 0
)",
    R"(# undo: the way back (add_dim t1 0 0) is refused
kernel random
out y3 f32 []
tmp t1 f32 [~1]

1
| t1[{0}] = 1
1
| y3[] = t1[{0}]

# move
drop_dim t1 0
)",
    R"(# invalid: buffer t0 folds 2 elements into 2
kernel random
out y bool []
tmp t0 bool [~1, 2]

t0[0, 0] = 1 < 1
y[] = t0[0, 0]

# move
join_dims t0 0
)",
    R"(# invalid: t may be read where t[1] has taken the storage of t[0]
kernel random
in x i64 []
in v i64 [5]
inout y i64 []
tmp t i64 [~2]

2
| t[{0}] = x[]
2
| y[] += v[{0}] * t[{0}] if {0} in [1, 5)

# move
pad_cache @1 v heap
)",
    R"(# invalid: x has one element
kernel random
in x f16 [1]
out y f16 []
tmp t f16 []

2
| t[] = x[{0}] if {0} in [0, 1)
| y[] = t[]

# move
forward_copy t
)",
    R"(# invalid: whether t0 has been written isn't decided any more
kernel random
in row i32 [3] monotone in [0, 1]
tmp t0 f32 [~2]
tmp b4 f32 []

2
| row[{0}]..row[{0} + 1]
| | t0[{0}] = 1
| row[{0}]..row[{0} + 1]
| | b4[] = t0[{0}]

# move
fission_scope @0 1
)",
    R"(# invalid: whether t has been written at the index isn't decided
kernel trap
in row i32 [3] monotone in [0, 1]
inout y f32 []
tmp t f32 []

2
| row[{0}]..row[{0} + 1]
| | t[] = 1
2
| row[{0}]..row[{0} + 1]
| | y[] = t[]

# move
add_dim t 0 0
)",
    R"(# different: element 2 of y is computed differently
kernel trap
inout y f64 [3]

2
| y[{0} + 1] = 0
2
| y[{0} + 1] += y[{0}] * 2

# move
factor_out @1.0 1
)",
    R"(# invalid: this isn't any more what instruction dot4 does
kernel trap
in a i8 [4]
in b i8 [4]
out c i32 []
instruction dot4
| inout acc i32 []
| in x i8 [4]
| in y i8 [4]
| 4
| | acc[] += x[{0}] * y[{0}]

c[] = 0
!dot4(c[], a[{0}], b[{0}])

# move
privatize @1 @1 heap
)",
    R"(# undo: the way back (unpipeline @1) is refused
kernel trap
in s f32 []
in u f32 []
out y f32 []
tmp t f32 [2, 2]
instruction scale2
| out d f32 [2]
| in x f32 [2]
| in s f32 []
| 2
| | d[{0}] = x[{0}] * s[]

2
| !scale2(t[{0}, {1}], s[], u[])
| y[] = 1

# move
pipeline @0
)",
};

}  // namespace

TEST_CASE("moves that were wrong once") {
  const target::Target target = proof::withEverything(test::someTarget());
  for (const std::string& text : kCases) {
    INFO(text);
    const std::size_t mark = text.find("# move\n");
    REQUIRE(mark != std::string::npos);
    const auto parsed = ir::parse(text.substr(0, mark));
    REQUIRE((parsed ? "" : parsed.error().text()) == std::string());
    const auto move = moves::parseMove(text.substr(mark + 7, text.find('\n', mark + 7) - mark - 7));
    REQUIRE(move);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const proof::StepResult step = proof::proveStep(parsed->program, target, *move, seed);
      // A move that was wrong may be refused instead.
      if (!step.flaw || *step.flaw == proof::Flaw::refused) continue;
      FAIL(proof::name(*step.flaw) << ": " << step.detail);
    }
  }
}
