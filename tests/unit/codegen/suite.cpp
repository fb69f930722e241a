// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every kernel of the suite, compiled and run here, against plain C++.
#include <catch2/catch.hpp>

#include "codegen/codegen.h"
#include "ir/print.h"
#include "kernels/kernels.h"
#include "moves/lowerable.h"
#include "moves/move.h"
#include "proof/random.h"
#include "run_here/run_here.h"
#include "support/kernel_reference.h"
#include "unit/codegen/compare.h"

namespace dojo::test {
namespace {

ir::Parsed load(const kernels::Kernel& kernel, const Shape& shape) {
  ir::ParseOptions options;
  options.params = shape;
  auto parsed = kernels::load(kernel.name, options);
  INFO(kernel.name);
  REQUIRE((parsed ? "" : parsed.error().text()) == std::string());
  return std::move(parsed).value();
}

/// `parsed` gives the arguments, `program` is run; it may be another form of the same kernel.
void runAgainstReference(const ir::Parsed& parsed, const ir::Program& program, ir::InputSet set) {
  INFO(ir::print(program));
  auto object = codegen::compile(program, host());
  REQUIRE((object ? "" : object.error().text()) == std::string());
  auto loaded = Loaded::load(object->bytes);
  REQUIRE((loaded ? "" : loaded.error().text()) == std::string());
  const std::vector<ir::Tensor> before = ir::makeInputs(parsed.program, set, 7);
  const CallBuffers buffers(program, before);
  loaded->call(buffers.pointers());
  CHECK(buffers.guardsIntact());
  CHECK(compareWithReference(parsed, before, buffers.arguments()) == "");
}

/// Sizes for the parameters of a kernel, from `turn` on.
Shape oddShape(const kernels::Kernel& kernel, std::size_t turn) {
  const std::vector<std::int64_t> sizes = {1, 17, 3, 33, 5, 47, 2};
  Shape shape;
  for (const auto& [name, value] : kernel.shape) {
    shape[name] = kernel.shape.size() > 4 ? 1 + sizes[turn % 7] % 7 : sizes[turn % 7];
    ++turn;
  }
  return shape;
}

}  // namespace

TEST_CASE("compiled kernels compute their references at the sizes of the suite") {
  for (const kernels::Kernel& kernel : kernels::list()) {
    const ir::Parsed parsed = load(kernel, {});
    runAgainstReference(parsed, parsed.program, ir::InputSet::uniform);
  }
}

TEST_CASE("compiled kernels compute their references at odd sizes, whatever moves were made") {
  proof::Random random(4);
  int moved = 0;
  for (const kernels::Kernel& kernel : kernels::list()) {
    for (std::size_t turn = 0; turn < 7; ++turn) {
      const ir::Parsed parsed = load(kernel, oddShape(kernel, turn));
      runAgainstReference(parsed, parsed.program, ir::InputSet::wide);
      ir::Program program = parsed.program;
      for (int i = 0; i < 8; ++i) {
        const std::vector<moves::Move> choices = moves::applicable(program, host());
        if (choices.empty()) break;
        program = moves::apply(program, host(), random.of(choices)).value();
      }
      if (!moves::lowerable(program, host())) continue;
      ++moved;
      runAgainstReference(parsed, program, ir::InputSet::uniform);
    }
  }
  CHECK(moved > 40);
}

}  // namespace dojo::test
