// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every kernel of the suite against plain C++, at odd sizes, in the interpreter.
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "ir/check.h"
#include "ir/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "kernels/kernels.h"
#include "support/kernel_reference.h"

using namespace dojo;

namespace {

/// Sizes for the parameters of a kernel: one, primes, one more than a power of two, in turns.
std::vector<test::Shape> oddShapes(const kernels::Kernel& kernel) {
  const std::vector<std::int64_t> sizes = kernel.shape.size() > 4
                                              ? std::vector<std::int64_t>{1, 2, 3, 5, 7}
                                              : std::vector<std::int64_t>{1, 2, 3, 7, 13, 17, 33};
  std::vector<test::Shape> shapes;
  for (std::size_t turn = 0; turn < sizes.size(); ++turn) {
    for (const std::size_t step : {0U, 1U, 3U}) {
      test::Shape shape;
      std::size_t at = turn;
      for (const auto& [name, value] : kernel.shape) {
        shape[name] = sizes[at % sizes.size()];
        at += step;
      }
      shapes.push_back(shape);
    }
  }
  return shapes;
}

std::string text(const test::Shape& shape) {
  std::string out;
  for (const auto& [name, value] : shape) out += name + "=" + std::to_string(value) + " ";
  return out;
}

void runAgainstReference(const kernels::Kernel& kernel, const test::Shape& shape,
                         std::optional<ir::DType> dtype, ir::InputSet set) {
  INFO(kernel.name << " " << text(shape));
  ir::ParseOptions options;
  options.params = shape;
  options.dtype = dtype;
  const auto parsed = kernels::load(kernel.name, options);
  INFO((parsed.ok() ? "" : parsed.error().text()));
  REQUIRE(parsed.ok());
  const std::vector<ir::Tensor> before = ir::makeInputs(parsed->program, set, 7);
  const auto after = ir::interpret(parsed->program, before);
  INFO((after.ok() ? "" : after.error().text()));
  REQUIRE(after.ok());
  CHECK(test::compareWithReference(*parsed, before, *after) == "");
}

}  // namespace

TEST_CASE("kernels compute their references at odd sizes") {
  for (const kernels::Kernel& kernel : kernels::list()) {
    for (const test::Shape& shape : oddShapes(kernel)) {
      for (const ir::InputSet set : {ir::InputSet::uniform, ir::InputSet::wide}) {
        runAgainstReference(kernel, shape, std::nullopt, set);
      }
    }
  }
}

TEST_CASE("kernels compute their references in other dtypes") {
  for (const kernels::Kernel& kernel : kernels::list()) {
    const std::vector<test::Shape> shapes = oddShapes(kernel);
    if (!ir::isFloat(kernels::load(kernel.name)->dtype)) continue;
    for (const ir::DType dtype : {ir::DType::f64, ir::DType::f16, ir::DType::bf16}) {
      runAgainstReference(kernel, shapes[7], dtype, ir::InputSet::uniform);
    }
  }
}

TEST_CASE("a reference that is wrong is noticed") {
  for (const kernels::Kernel& kernel : kernels::list()) {
    INFO(kernel.name);
    ir::ParseOptions options;
    options.params = oddShapes(kernel)[7];
    const auto parsed = kernels::load(kernel.name, options);
    REQUIRE(parsed.ok());
    const auto before = ir::makeInputs(parsed->program, ir::InputSet::uniform, 3);
    auto after = ir::interpret(parsed->program, before);
    REQUIRE(after.ok());
    for (std::size_t i = 0; i < after->size(); ++i) {
      if (parsed->program.buffers[i].role == ir::Role::in) continue;
      ir::Tensor& result = (*after)[i];
      const double value = ir::loadAsDouble(result, 0);
      ir::store(result, 0, value + (ir::isFloat(result.dtype) ? 0.01 : 1));
    }
    CHECK(test::compareWithReference(*parsed, before, *after) != "");
  }
}

TEST_CASE("the suite has the kernels of the plan, described, at their sizes") {
  const std::map<std::string, test::Shape> plan = {
      {"add", {{"N", 1024}, {"M", 1024}}},
      {"mul", {{"N", 1024}, {"M", 1024}}},
      {"relu", {{"N", 1024}, {"M", 1024}}},
      {"axpy", {{"N", 1 << 20}}},
      {"dot", {{"N", 1 << 20}}},
      {"sum", {{"N", 1 << 20}}},
      {"reducemean", {{"N", 1024}, {"M", 1024}}},
      {"softmax", {{"N", 512}, {"M", 1024}}},
      {"layernorm", {{"N", 512}, {"M", 1024}}},
      {"rmsnorm", {{"N", 512}, {"M", 1024}}},
      {"transpose", {{"N", 1024}, {"M", 1024}}},
      {"gemv", {{"N", 2048}, {"M", 2048}}},
      {"matmul", {{"M", 512}, {"N", 512}, {"K", 512}}},
      {"matmul_nt", {{"M", 512}, {"N", 512}, {"K", 512}}},
      {"conv2d", {{"N", 1}, {"C", 64}, {"H", 56}, {"W", 56}, {"K", 64}, {"stride", 1}}},
      {"gelu", {{"N", 1024}, {"M", 1024}}},
      {"batchnorm", {{"N", 8}, {"C", 64}, {"H", 56}, {"W", 56}}},
      {"bmm", {{"B", 48}, {"M", 128}, {"K", 64}, {"N", 128}}},
      {"depthwise", {{"N", 1}, {"C", 128}, {"H", 56}, {"W", 56}, {"stride", 1}}},
      {"maxpool", {{"N", 1}, {"C", 64}, {"H", 112}, {"W", 112}}},
      {"avgpool", {{"N", 1}, {"C", 64}, {"H", 112}, {"W", 112}}},
      {"relu_ffn", {{"M", 128}, {"K", 512}, {"N", 512}}},
      {"swiglu", {{"M", 128}, {"K", 512}, {"N", 1408}}},
      {"attention", {{"N", 256}, {"D", 64}}},
      {"qmatmul", {{"M", 512}, {"N", 512}, {"K", 512}, {"multiplier", 1073742}}},
      {"embedding", {{"N", 512}, {"V", 10000}, {"D", 256}}},
      {"spmv", {{"N", 4096}, {"M", 4096}, {"E", 65536}}},
  };
  std::map<std::string, test::Shape> found;
  for (const kernels::Kernel& kernel : kernels::list()) {
    found[kernel.name] = test::Shape(kernel.shape.begin(), kernel.shape.end());
    CHECK(kernel.description.size() > 10);
    const auto parsed = kernels::load(kernel.name);
    REQUIRE(parsed.ok());
    CHECK(parsed->program.name == kernel.name);
    CHECK(parsed->dtype == (kernel.name == "qmatmul" ? ir::DType::i8 : ir::DType::f32));
  }
  for (const auto& [name, shape] : plan) {
    INFO(name);
    CHECK(found[name] == shape);
  }
}

TEST_CASE("printing is the fixed point of parsing for every kernel") {
  for (const kernels::Kernel& kernel : kernels::list()) {
    INFO(kernel.name);
    const auto parsed = kernels::load(kernel.name);
    REQUIRE(parsed.ok());
    const std::string printed = ir::print(parsed->program);
    const auto again = ir::parse(printed);
    INFO((again.ok() ? "" : again.error().text()));
    REQUIRE(again.ok());
    CHECK(again->program == parsed->program);
    CHECK(ir::print(again->program) == printed);
  }
}

TEST_CASE("kernels are valid programs at their sizes and at odd ones") {
  for (const kernels::Kernel& kernel : kernels::list()) {
    std::vector<test::Shape> shapes = oddShapes(kernel);
    shapes.emplace_back();  // the defaults
    for (const test::Shape& shape : shapes) {
      INFO(kernel.name << " " << text(shape));
      ir::ParseOptions options;
      options.params = shape;
      const auto parsed = kernels::load(kernel.name, options);
      REQUIRE(parsed.ok());
      const Status valid = ir::check(parsed->program);
      INFO((valid.ok() ? "" : valid.error().text()));
      CHECK(valid.ok());
    }
  }
}
