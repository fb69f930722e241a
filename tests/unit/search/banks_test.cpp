// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What banks make of harts that stream at once, and how the expert shares work for that.
#include "search/banks.h"

#include <catch2/catch.hpp>

#include "ir/parse.h"
#include "ir/print.h"
#include "kernels/kernels.h"
#include "search/expert.h"

using namespace dojo;

namespace {

const target::Target& cluster() {
  static const target::Target target = target::load("snitch").value();
  return target;
}

ir::Program parsed(const char* text) { return ir::parse(text).value().program; }

}  // namespace

TEST_CASE(
    "harts that stream through banks of their own don't wait, and in one bank they take turns") {
  const ir::Program apart = parsed(R"(kernel apart
in  x f64 [64, 8]
out y f64 [8]
tmp t f64 [8] @register

8:parallel
| 1:stream(x)
| | t[{0}] = 0
| | 64
| | | t[{0}] max= x[{2}, {0}]
| | y[{0}] = t[{0}]
)");
  const ir::Program same = parsed(R"(kernel same
in  x f64 [8, 64, 32]
out y f64 [8]
tmp t f64 [8] @register

8:parallel
| 1:stream(x)
| | t[{0}] = 0
| | 64
| | | t[{0}] max= x[{0}, {2}, 0]
| | y[{0}] = t[{0}]
)");
  const double free = search::bankCycles(apart, {0}, cluster());
  const double turns = search::bankCycles(same, {0}, cluster());
  // Each maximum waits for the one before: 4 cycles. Eight harts that read one bank get 1 in 8.
  CHECK(free > 4 * 64);
  CHECK(free < 4 * 64 + 32);
  CHECK(turns > 8 * 64);
  CHECK(turns < 8 * 64 + 32);
}

TEST_CASE("without streams or banks there is nothing to say") {
  const ir::Program program = parsed(R"(kernel k
in  x f64 [8]
out y f64 [8]

8:parallel
| y[{0}] = x[{0}]
)");
  CHECK(search::bankCycles(program, {0}, cluster()) == 0);
  target::Target flat = cluster();
  for (target::Memory& memory : flat.memories) memory.banks = 0;
  CHECK(search::bankCycles(program, {0}, flat) == 0);
}

TEST_CASE("the expert gives each hart the loop whose data lie in banks of their own") {
  ir::ParseOptions options;
  options.params = {{"M", 32}, {"N", 32}, {"K", 32}};
  options.dtype = ir::DType::f64;
  const ir::Program plain = kernels::load("matmul", options).value().program;
  const ir::Program best =
      search::expert({std::make_shared<const moves::State>(plain, cluster()), {}})
          .state()
          ->program();
  const double cycles = search::bankCycles(best, {0}, cluster());
  INFO(ir::print(best));
  CHECK(cycles > 4096);
  CHECK(cycles < 4096 * 1.12);
}
