// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Data movers and hardware loops: the composites for them, and the expert's recipe.
#include <algorithm>

#include <catch2/catch.hpp>

#include "ir/check.h"
#include "ir/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "kernels/kernels.h"
#include "moves/lowerable.h"
#include "moves/rule.h"
#include "search/composite.h"
#include "search/expert.h"

using namespace dojo;

namespace {

const target::Target& cluster() {
  static const target::Target target = [] {
    auto loaded = target::load("snitch1");
    REQUIRE((loaded ? "" : loaded.error().text()) == std::string());
    return *loaded;
  }();
  return target;
}

ir::Program kernel(const std::string& name, const std::map<std::string, std::int64_t>& shape,
                   ir::DType dtype = ir::DType::f64) {
  ir::ParseOptions options;
  options.params = shape;
  options.dtype = dtype;
  auto loaded = kernels::load(name, options);
  REQUIRE((loaded ? "" : loaded.error().text()) == std::string());
  return std::move(loaded->program);
}

ir::Program planned(const ir::Program& plain) {
  return search::expert({std::make_shared<const moves::State>(plain, cluster()), {}})
      .state()
      ->program();
}

int count(const ir::Program& program, ir::MapKind kind) {
  int out = 0;
  ir::walk(program, [&](const ir::Visit& visit) {
    out += visit.node->isScope() && visit.node->scope().mapping.has(kind) ? 1 : 0;
    return true;
  });
  return out;
}

/// Valid, compilable, and the same meaning; reads of streams and writes to them come when they do.
void isGood(const ir::Program& plain, const ir::Program& best) {
  INFO(ir::print(best));
  const Status valid = ir::check(best);
  CHECK((valid ? "" : valid.error().text()) == std::string());
  const Status lowers = moves::lowerable(best, cluster());
  CHECK((lowers ? "" : lowers.error().text()) == std::string());
  const auto want = ir::interpretExact(plain, 7), got = ir::interpretExact(best, 7);
  REQUIRE(want);
  REQUIRE(got);
  CHECK(*want == *got);
}

}  // namespace

TEST_CASE("matmul takes nothing but multiply-adds from the program's first to its last") {
  const ir::Program plain = kernel("matmul", {{"M", 16}, {"N", 16}, {"K", 16}});
  const ir::Program best = planned(plain);
  isGood(plain, best);
  CHECK(ir::print(best) == R"(kernel matmul
in a f64 [16, 16]
in b f64 [16, 16]
out c f64 [16, 16]
tmp t0 f64 [8] @register

16:stream(a, b, c)
| 2:frep
| | 1
| | | 8:unroll
| | | | t0[{3}] = a[{0}, {2}] * b[{2}, {1}*8 + {3}]
| | 14:frep
| | | 8:unroll
| | | | t0[{3}] fma+= a[{0}, {2} + 1] * b[{2} + 1, {1}*8 + {3}]
| | 1
| | | 8:unroll
| | | | c[{0}, {1}*8 + {3}] = fma(a[{0}, {2} + 15], b[{2} + 15, {1}*8 + {3}], t0[{3}])
)");
}

TEST_CASE("loops over elements and sums go to hardware loops whatever their extents") {
  for (const std::int64_t n : {2, 3, 7, 16, 17, 64, 65}) {
    for (const char* name : {"axpy", "dot", "sum"}) {
      const ir::Program plain = kernel(name, {{"N", n}});
      INFO(name << " " << n);
      const ir::Program best = planned(plain);
      isGood(plain, best);
      CHECK(count(best, ir::MapKind::stream) > 0);
    }
  }
}

TEST_CASE("kernels of several nests and of odd sizes come out right") {
  using Shape = std::map<std::string, std::int64_t>;
  const std::vector<std::pair<std::string, Shape>> cases = {
      {"matmul", {{"M", 3}, {"N", 5}, {"K", 7}}},
      {"matmul", {{"M", 1}, {"N", 1}, {"K", 1}}},
      {"matmul", {{"M", 4}, {"N", 8}, {"K", 2}}},
      {"gemv", {{"M", 6}, {"N", 10}}},
      {"relu", {{"N", 3}, {"M", 17}}},
      {"softmax", {{"N", 4}, {"M", 8}}},
      {"layernorm", {{"N", 4}, {"M", 8}}},
      {"conv2d", {{"C", 2}, {"H", 4}, {"W", 4}, {"K", 2}}},
      {"transpose", {{"N", 4}, {"M", 6}}},
  };
  for (const auto& [name, shape] : cases) {
    const ir::Program plain = kernel(name, shape);
    INFO(name);
    isGood(plain, planned(plain));
  }
}

TEST_CASE("f32 goes through data movers two elements at a time") {
  using Shape = std::map<std::string, std::int64_t>;
  const std::vector<std::pair<std::string, Shape>> cases = {
      {"matmul_nt", {{"M", 4}, {"N", 8}, {"K", 16}}},
      {"matmul_nt", {{"M", 3}, {"N", 5}, {"K", 6}}},
      {"axpy", {{"N", 64}}},
      {"dot", {{"N", 64}}},
      {"sum", {{"N", 32}}},
      {"relu", {{"N", 2}, {"M", 16}}},
      {"reducemean", {{"N", 4}, {"M", 16}}},
  };
  for (const auto& [name, shape] : cases) {
    const ir::Program plain = kernel(name, shape, ir::DType::f32);
    INFO(name);
    const ir::Program best = planned(plain);
    isGood(plain, best);
    CHECK(count(best, ir::MapKind::vector) > 0);
    CHECK(count(best, ir::MapKind::stream) > 0);
  }
  // What isn't pairs stays as it is.
  for (const std::int64_t n : {1, 7, 33}) {
    for (const char* name : {"axpy", "dot", "sum"}) {
      const ir::Program plain = kernel(name, {{"N", n}}, ir::DType::f32);
      INFO(name << " " << n);
      isGood(plain, planned(plain));
    }
  }
}

TEST_CASE("composites for data movers have no place where a target has none") {
  auto host = target::load("host");
  REQUIRE(host);
  const ir::Program plain = kernel("matmul", {{"M", 16}, {"N", 16}, {"K", 16}});
  const moves::State state(plain, *host);
  for (const char* name :
       {"stream_nest", "stream_sum", "stream_map", "stream_pairs", "pad_reads"}) {
    CHECK(search::findComposite(name)->places(state).empty());
  }
}
