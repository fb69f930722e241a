// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments far away: tiles that the DMA engine brings ahead.
#include <algorithm>

#include <catch2/catch.hpp>

#include "ir/check.h"
#include "ir/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "moves/lowerable.h"
#include "search/expert.h"

using namespace dojo;

namespace {

const target::Target& cluster() {
  static const target::Target target = target::load("snitch1").value();
  return target;
}

int count(const ir::Program& program, ir::MapKind kind) {
  int out = 0;
  ir::walk(program, [&](const ir::Visit& visit) {
    out += visit.node->isScope() && visit.node->scope().mapping.has(kind) ? 1 : 0;
    return true;
  });
  return out;
}

ir::Program planned(const ir::Program& plain) {
  return search::expert({std::make_shared<const moves::State>(plain, cluster()), {}})
      .state()
      ->program();
}

}  // namespace

TEST_CASE("far arguments are tiled, brought one tile ahead, and streamed from near copies") {
  // Copies, and buffers of two tiles: what is read comes ahead.
  const std::tuple<const char*, int, int> cases[] = {
      {R"(kernel axpy
in a f64 []
in x f64 [16384] @dram
inout y f64 [16384] @dram

16384
| y[{0}] += a[] * x[{0}]
)",
       5, 2},
      {R"(kernel dot
in x f64 [16384] @dram
in y f64 [16384] @dram
out s f64 []

s[] = 0
16384
| s[] += x[{0}] * y[{0}]
)",
       4, 2},
      {R"(kernel matmul
in a f64 [16, 32] @dram
in b f64 [32, 512] @dram
out c f64 [16, 512] @dram

16
| 512
| | c[{0}, {1}] = 0
| | 32
| | | c[{0}, {1}] += a[{0}, {2}] * b[{2}, {1}]
)",
       4, 2},
  };
  for (const auto& [text, copies, halved] : cases) {
    const ir::Program plain = ir::parse(text).value().program;
    const ir::Program best = planned(plain);
    INFO(ir::print(best));
    const Status valid = ir::check(best);
    CHECK((valid ? "" : valid.error().text()) == std::string());
    const Status lowers = moves::lowerable(best, cluster());
    CHECK((lowers ? "" : lowers.error().text()) == std::string());
    CHECK(ir::interpretExact(plain, 7).value() == ir::interpretExact(best, 7).value());
    CHECK(count(best, ir::MapKind::dma) >= copies - 1);
    CHECK(count(best, ir::MapKind::stream) > 0);
    const auto twice =
        std::count_if(best.buffers.begin(), best.buffers.end(), [](const ir::Buffer& buffer) {
          return std::any_of(buffer.dims.begin(), buffer.dims.end(),
                             [](const ir::Dim& dim) { return dim.fold == 2; });
        });
    CHECK(twice >= halved);
  }
}

TEST_CASE("without a DMA engine or far arguments nothing is tiled") {
  const ir::Program near = ir::parse(R"(kernel sum
in x f64 [16384]
out s f64 []

s[] = 0
16384
| s[] += x[{0}]
)")
                               .value()
                               .program;
  CHECK(count(planned(near), ir::MapKind::dma) == 0);
}
