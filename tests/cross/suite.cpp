// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every kernel of the suite in its plain and its expert form, compiled for other machines and run
// there. DOJO_CROSS_LONG in the environment: more sizes.
#include <cstdlib>

#include <catch2/catch.hpp>

#include "cross/machines.h"
#include "ir/print.h"
#include "kernels/kernels.h"
#include "moves/lowerable.h"
#include "moves/rule.h"
#include "search/expert.h"

namespace dojo::test {
namespace {

/// Small sizes for the parameters of a kernel, from `turn` on; none is 0 or a whole vector.
std::map<std::string, std::int64_t> oddShape(const kernels::Kernel& kernel, std::size_t turn) {
  constexpr std::int64_t kSizes[] = {17, 5, 33, 3, 47, 1, 20};
  std::map<std::string, std::int64_t> shape;
  for (const auto& [name, value] : kernel.shape) {
    const std::int64_t size = kSizes[turn++ % std::size(kSizes)];
    shape[name] = kernel.shape.size() > 4 ? 1 + size % 7 : size;
  }
  return shape;
}

void suiteOn(const std::string& name) {
  const Machine& there = machine(name);
  const char* only = std::getenv("DOJO_KERNEL");
  const std::size_t turns = std::getenv("DOJO_CROSS_LONG") == nullptr ? 1 : 7;
  for (const kernels::Kernel& kernel : kernels::list()) {
    if (only != nullptr && kernel.name != only) continue;
    for (std::size_t turn = 0; turn < turns; ++turn) {
      ir::ParseOptions options;
      options.params = oddShape(kernel, turn);
      auto parsed = kernels::load(kernel.name, options);
      REQUIRE((parsed.ok() ? "" : parsed.error().text()) == "");
      const ir::Program& plain = parsed->program;
      CHECK(wrongThere(plain, there, {ir::InputSet::wide}) == "");
      const search::Position expert =
          search::expert({std::make_shared<const moves::State>(plain, there.target), {}});
      const ir::Program& best = expert.state()->program();
      CHECK((moves::lowerable(best, there.target).ok() ? "" : ir::print(best)) == "");
      CHECK(wrongThere(best, there, {ir::InputSet::uniform}) == "");
    }
  }
}

}  // namespace

TEST_CASE("the suite on riscv64") { suiteOn("riscv64"); }
TEST_CASE("the suite on riscv64 with vectors chosen for 128 bits") {
  suiteOn("riscv64 vectors 128");
}
TEST_CASE("the suite on riscv64 with vectors chosen for 512 bits") {
  suiteOn("riscv64 vectors 512");
}
TEST_CASE("the suite on riscv64 with vectors chosen for 1024 bits") {
  suiteOn("riscv64 vectors 1024");
}
TEST_CASE("the suite on riscv32") { suiteOn("riscv32"); }
TEST_CASE("the suite on aarch64") { suiteOn("aarch64"); }
TEST_CASE("the suite on aarch64 with scalable vectors") { suiteOn("sve"); }
TEST_CASE("the suite on aarch64 with vectors of 512 bits") { suiteOn("sve 512"); }
TEST_CASE("the suite on armv7") { suiteOn("armv7"); }
TEST_CASE("the suite on cortex-m4") { suiteOn("cortex-m4"); }
TEST_CASE("the suite on machines without floats, or with one of their formats") {
  suiteOn("cortex-m3");
  suiteOn("rv32imac");
  suiteOn("rv32imafc");
}

}  // namespace dojo::test
