// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/verifier.h"

#include <catch2/catch.hpp>

#include "ir/parse.h"
#include "kernels/kernels.h"

using namespace dojo;

namespace {

using Spans = std::vector<std::span<const std::byte>>;

/// What a kernel that does as the plain program leaves, as a session hands it over.
std::vector<ir::Tensor> right(const ir::Program& program, const tune::Verifier& verifier, int set) {
  return ir::interpret(program, verifier.inputs[static_cast<std::size_t>(set)]).value();
}
Spans spans(const ir::Program& program, const std::vector<ir::Tensor>& tensors) {
  Spans out;
  std::size_t k = 0;
  for (const ir::Buffer& buffer : program.buffers) {
    if (!buffer.isArgument()) continue;
    const ir::Tensor& tensor = tensors[k++];
    out.push_back(buffer.role == ir::Role::in ? std::span<const std::byte>()
                                              : std::span<const std::byte>(tensor.bytes));
  }
  return out;
}

ir::Program kernel(const std::string& name) {
  ir::ParseOptions options;
  options.params = {{"N", 12}, {"M", 20}};
  return kernels::load(name, options)->program;
}

}  // namespace

TEST_CASE("the right result passes on every set, any wrong element is found") {
  for (const char* name : {"softmax", "layernorm", "add", "transpose"}) {
    const ir::Program program = kernel(name);
    auto verifier = tune::makeVerifier(program, 3);
    REQUIRE(verifier.ok());
    REQUIRE(verifier->inputs.size() >= 2);
    CHECK(verifier->names[0] == "uniform");
    CHECK(verifier->inputs.front() != verifier->inputs.back());
    for (int set = 0; set < static_cast<int>(verifier->inputs.size()); ++set) {
      std::vector<ir::Tensor> outputs = right(program, *verifier, set);
      INFO(name << " " << verifier->names[static_cast<std::size_t>(set)]);
      auto compared = verifier->compare(set, spans(program, outputs));
      REQUIRE(compared.ok());
      CHECK(compared->worstError <= 1);
      CHECK(compared->elements > 0);
    }
    std::vector<ir::Tensor> outputs = right(program, *verifier, 0);
    ir::Tensor& last = outputs.back();
    ir::store(last, 7, ir::loadAsDouble(last, 7) * 1.001 + 1e-3);
    auto compared = verifier->compare(0, spans(program, outputs));
    REQUIRE_FALSE(compared.ok());
    CHECK(compared.error().code == "verify.mismatch");
    CHECK(compared.error().message.find("[0, 7]") != std::string::npos);
  }
}

TEST_CASE("comparing elements: bounds, NaN, infinities, what isn't compared") {
  ir::Buffer buffer;
  buffer.name = "y";
  buffer.role = ir::Role::out;
  buffer.dims = {{4, 0, 0}};
  ir::Tensor tensor = ir::makeTensor(buffer);
  auto compare = [&](std::vector<double> got, std::vector<ir::Bounded> want) {
    for (std::size_t k = 0; k < got.size(); ++k) {
      ir::store(tensor, static_cast<std::int64_t>(k), got[k]);
    }
    return tune::compareElements(buffer, tensor.bytes, want, "uniform");
  };
  const double nan = std::nan(""), inf = INFINITY;
  const ir::Bounded two{2, 0, 0}, three{3, 0, 0}, four{4, 0, 0};
  CHECK(compare({1, 2, 3, 4}, {{1, 0, 0}, two, three, four})->worstError == 0);
  CHECK(compare({1.5, 2, 3, 4}, {{1, 0, 1}, two, three, four})->worstError == 0.5);
  CHECK_FALSE(compare({2.5, 2, 3, 4}, {{1, 0, 1}, two, three, four}).ok());
  CHECK_FALSE(compare({nan, 2, 3, 4}, {{1, 0, 1}, two, three, four}).ok());
  CHECK_FALSE(compare({1, 2, 3, 4}, {{nan, 0, 0}, two, three, four}).ok());
  CHECK(compare({nan, inf, -inf, 4}, {{nan, 0, 0}, {inf, 0, 0}, {-inf, 0, 0}, four}).ok());
  CHECK_FALSE(compare({1, inf, 3, 4}, {{1, 0, 0}, {2, 0, 5}, three, four}).ok());
  auto skipped = compare({99, 2, 3, 4}, {{1, 0, inf}, two, three, four});
  REQUIRE(skipped.ok());
  CHECK(skipped->skipped == 1);
  CHECK(skipped->elements == 3);
}

TEST_CASE("64 bits are compared to the last one") {
  ir::Buffer buffer;
  buffer.name = "y";
  buffer.role = ir::Role::out;
  buffer.dtype = ir::DType::i64;
  buffer.dims = {{2, 0, 0}};
  ir::Tensor tensor = ir::makeTensor(buffer);
  const std::int64_t large = (std::int64_t{1} << 60) + 1;
  ir::store(tensor, 0, large);
  ir::store(tensor, 1, std::int64_t{-5});
  const double head = std::ldexp(1.0, 60);
  CHECK(tune::compareElements(buffer, tensor.bytes, {{head, 1, 0}, {-5, 0, 0}}, "").ok());
  CHECK_FALSE(tune::compareElements(buffer, tensor.bytes, {{head, 0, 0}, {-5, 0, 0}}, "").ok());
  buffer.dtype = ir::DType::f64;
  tensor = ir::makeTensor(buffer);
  ir::store(tensor, 0, 1.0);
  ir::store(tensor, 1, 1.0);
  CHECK(tune::compareElements(buffer, tensor.bytes, {{1, 1e-17, 1e-17}, {1, 0, 0}}, "").ok());
  CHECK_FALSE(tune::compareElements(buffer, tensor.bytes, {{1, 3e-17, 1e-17}, {1, 0, 0}}, "").ok());
}

TEST_CASE("the more there is to compute, the fewer sets, but at least two") {
  CHECK(tune::inputSetCount(1e3) == 5);
  CHECK(tune::inputSetCount(1e9) == 2);
}
