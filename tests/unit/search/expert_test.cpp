// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/expert.h"

#include <algorithm>
#include <map>

#include <catch2/catch.hpp>

#include "ir/check.h"
#include "ir/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "kernels/kernels.h"
#include "moves/lowerable.h"
#include "moves/rule.h"
#include "support/some_target.h"

using namespace dojo;

namespace {

search::Position planned(const ir::Program& program, const target::Target& target) {
  return search::expert({std::make_shared<const moves::State>(program, target), {}});
}

target::Target oneHart() {
  target::Target target = test::someTarget();
  target.harts = 1;
  std::erase(target.mappings, "parallel");
  return target;
}

target::Target scalar(const char* triple, const char* features) {
  target::Target target = oneHart();
  target.triple = triple;
  target.features = features;
  target.vector = {};
  target.vector.fma = true;
  std::erase(target.mappings, "vector");
  target.instructions.clear();
  return target;
}

ir::Program program(const std::string& text) {
  auto parsed = ir::parse(text);
  REQUIRE((parsed ? "" : parsed.error().text()) == std::string());
  return std::move(parsed->program);
}

std::vector<std::string> calls(const search::Position& position) {
  std::vector<std::string> out;
  for (const auto& step : position.steps()) out.push_back(step.call.name);
  return out;
}

bool has(const search::Position& position, const std::string& call) {
  const std::vector<std::string> all = calls(position);
  return std::find(all.begin(), all.end(), call) != all.end();
}

}  // namespace

TEST_CASE("the expert's programs are valid, can be lowered and compute the same") {
  const target::Target target = oneHart();
  for (const kernels::Kernel& kernel : kernels::list()) {
    for (const std::int64_t size : {5, 33, 48}) {
      ir::ParseOptions options;
      std::int64_t next = size;
      for (const auto& [name, value] : kernel.shape) {
        options.params[name] = kernel.shape.size() > 4 ? 1 + next % 9 : next;
        next = next * 7 % 50 + 1;
      }
      const ir::Program plain = kernels::load(kernel.name, options)->program;
      const search::Position best = planned(plain, target);
      const ir::Program& after = best.state()->program();
      INFO(kernel.name << "\n" << ir::print(after));
      CHECK(ir::check(after).ok());
      CHECK(moves::lowerable(after, target).ok());
      const search::Candidate candidate = best.toCandidate();
      CHECK(ir::print(moves::replay(plain, target, candidate.trace).value()) == candidate.text);
      const auto before = ir::interpretExact(plain, 3, {1, 1 << 22});
      const auto now = ir::interpretExact(after, 3, {2, 1 << 22});
      if (!before) continue;  // a size that the exact interpretation doesn't take
      REQUIRE((now ? "" : now.error().text()) == std::string());
      CHECK(*now == *before);
    }
  }
}

TEST_CASE("the expert blocks contractions, and leaves nothing scalar that can be vectors") {
  const target::Target target = oneHart();
  for (const char* name : {"matmul", "bmm", "conv2d", "relu_ffn", "swiglu", "attention"}) {
    INFO(name);
    CHECK(has(planned(kernels::load(name)->program, target), "register_block"));
  }
  for (const char* name : {"add", "softmax", "layernorm", "dot", "gelu", "batchnorm"}) {
    INFO(name);
    CHECK(has(planned(kernels::load(name)->program, target), "vectorize_loop"));
  }
  CHECK(has(planned(kernels::load("softmax")->program, target), "fuse"));
}

TEST_CASE("without vectors the expert blocks scalars in registers and puts iterations in a row") {
  const target::Target target = scalar("thumbv7em-none-eabihf", "+vfp4d16sp");
  for (const kernels::Kernel& kernel : kernels::list()) {
    ir::ParseOptions options;
    std::int64_t next = 19;
    for (const auto& [name, value] : kernel.shape) {
      options.params[name] = kernel.shape.size() > 4 ? 1 + next % 9 : next;
      next = next * 7 % 23 + 1;
    }
    const ir::Program plain = kernels::load(kernel.name, options)->program;
    const search::Position best = planned(plain, target);
    const ir::Program& after = best.state()->program();
    INFO(kernel.name << "\n" << ir::print(after));
    CHECK(ir::check(after).ok());
    CHECK(moves::lowerable(after, target).ok());
    const auto before = ir::interpretExact(plain, 3, {1, 1 << 22});
    const auto now = ir::interpretExact(after, 3, {2, 1 << 22});
    if (!before) continue;
    REQUIRE((now ? "" : now.error().text()) == std::string());
    CHECK(*now == *before);
  }
  for (const char* name : {"matmul", "qmatmul", "conv2d"}) {
    INFO(name);
    CHECK(has(planned(kernels::load(name)->program, target), "register_block"));
  }
  for (const char* name : {"softmax", "layernorm", "add"}) {
    INFO(name);
    CHECK(has(planned(kernels::load(name)->program, target), "unroll_by"));
  }
}

TEST_CASE("blocks of scalars are as large as the registers of the target") {
  ir::ParseOptions options;
  options.params = {{"M", 60}, {"N", 60}, {"K", 60}};
  const ir::Program plain = kernels::load("matmul", options)->program;
  const auto block = [&](const target::Target& target) {
    const search::Position best = planned(plain, target);
    std::int64_t most = 0;
    for (const ir::Buffer& buffer : best.state()->program().buffers) {
      if (buffer.location == "register") most = std::max(most, buffer.storageElements());
    }
    return most;
  };
  const std::int64_t many = block(scalar("thumbv7em-none-eabihf", "+vfp4d16sp"));
  const std::int64_t few = block(scalar("thumbv7m-none-eabi", ""));
  CHECK(few >= 4);
  CHECK(few < 10);
  CHECK(many >= 12);
  CHECK(many < 32);
  CHECK(block(scalar("riscv32-unknown-elf", "+m,+f")) == many);
}

TEST_CASE("the expert turns tiles round, and sums up rows of any length in registers") {
  const target::Target target = oneHart();
  CHECK(has(planned(kernels::load("transpose")->program, target), "turn"));
  const ir::Program rows = planned(kernels::load("spmv")->program, target).state()->program();
  const bool kept = std::any_of(rows.buffers.begin(), rows.buffers.end(), [](const ir::Buffer& b) {
    return b.location == "register" && b.rank() == 0;
  });
  INFO(ir::print(rows));
  CHECK(kept);
}

TEST_CASE("names mean nothing to the expert, nor does the order of dims") {
  const target::Target target = oneHart();
  const ir::Program plain = program(
      "kernel matmul\nin a f32 [64, 40]\nin b f32 [40, 96]\nout c f32 [64, 96]\n\n64\n| 96\n"
      "| | c[{0}, {1}] = 0\n| | 40\n| | | c[{0}, {1}] += a[{0}, {2}] * b[{2}, {1}]\n");
  const ir::Program renamed = program(
      "kernel zzz\nin q f32 [64, 40]\nin p f32 [40, 96]\nout r f32 [64, 96]\n\n64\n| 96\n"
      "| | r[{0}, {1}] = 0\n| | 40\n| | | r[{0}, {1}] += q[{0}, {2}] * p[{2}, {1}]\n");
  const ir::Program transposed = program(
      "kernel k\nin a f32 [40, 64]\nin b f32 [40, 96]\nout c f32 [64, 96]\n\n96\n| 64\n"
      "| | c[{1}, {0}] = 0\n| | 40\n| | | c[{1}, {0}] += a[{2}, {1}] * b[{2}, {0}]\n");
  const auto first = planned(plain, target), second = planned(renamed, target);
  REQUIRE(first.steps().size() == second.steps().size());
  for (std::size_t k = 0; k < first.steps().size(); ++k) {
    CHECK(moves::toString(first.steps()[k].call) == moves::toString(second.steps()[k].call));
  }
  CHECK(has(first, "register_block"));
  CHECK(has(planned(transposed, target), "register_block"));
}

TEST_CASE("the expert uses the harts there are") {
  target::Target target = test::someTarget();
  target.harts = 4;
  CHECK(has(planned(kernels::load("matmul")->program, target), "parallelize_by"));
  CHECK_FALSE(has(planned(kernels::load("matmul")->program, oneHart()), "parallelize_by"));
  // One image: its rows are spread.
  CHECK(has(planned(kernels::load("conv2d")->program, target), "parallelize_by"));
}

TEST_CASE("the expert's convolutions ask no guard in their loops, nor load in steps") {
  for (const std::int64_t stride : {1, 2}) {
    ir::ParseOptions options;
    options.params = {{"C", 4}, {"K", 8}, {"H", 19}, {"W", 34}, {"stride", stride}};
    const auto conv = kernels::load("conv2d", options);
    REQUIRE(conv.ok());
    const ir::Program made = planned(conv->program, oneHart()).state()->program();
    INFO(ir::print(made));
    int products = 0;
    ir::walk(made, [&](const ir::Visit& visit) {
      if (!visit.node->isLeaf() || visit.node->leaf().assign != ir::Assign::fma) return true;
      ++products;
      CHECK(visit.node->guard.empty());
      for (const ir::Node* scope : visit.enclosing) CHECK(scope->guard.empty());
      REQUIRE(visit.enclosing.back()->scope().mapping.has(ir::MapKind::vector));
      const int lane = static_cast<int>(visit.enclosing.size()) - 1;
      for (const ir::Operand& operand : visit.node->leaf().operands) {
        const auto* access = std::get_if<ir::Access>(&operand);
        REQUIRE(access != nullptr);
        CHECK(access->indices.back().affine.coef(lane) <= 1);
      }
      return true;
    });
    CHECK(products > 0);
  }
}
