// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "unit/codegen/compare.h"

#include <cmath>

#include <catch2/catch.hpp>

#include "codegen/codegen.h"
#include "ir/interpret.h"
#include "ir/numeric.h"
#include "ir/parse.h"
#include "moves/lowerable.h"
#include "run_here/run_here.h"

namespace dojo::test {
namespace {

bool close(ir::DType dtype, const ir::Tensor& a, const ir::Tensor& b, std::int64_t element,
           double ulps) {
  if (!ir::isFloat(dtype)) return ir::loadAsInteger(a, element) == ir::loadAsInteger(b, element);
  const double x = ir::loadAsDouble(a, element);
  const double y = ir::loadAsDouble(b, element);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  if (x == y) return true;
  const ir::FloatFormat& format = ir::formatOf(dtype);
  const double unit = std::max(2 * format.unit * std::max(std::abs(x), std::abs(y)), format.least);
  return std::abs(x - y) <= ulps * unit;
}

void compare(const ir::Program& program, const std::vector<ir::Tensor>& inputs, double ulps) {
  const auto expected = ir::interpret(program, inputs);
  REQUIRE((expected.ok() ? "" : expected.error().text()) == "");
  const auto actual = runHere(program, host(), inputs);
  REQUIRE((actual.ok() ? "" : actual.error().text()) == "");
  std::size_t argument = 0;
  for (const ir::Buffer& buffer : program.buffers) {
    if (!buffer.isArgument()) continue;
    const ir::Tensor& want = (*expected)[argument];
    const ir::Tensor& got = (*actual)[argument++];
    if (buffer.role == ir::Role::in) {
      REQUIRE(want.bytes == got.bytes);
      continue;
    }
    bool padded = false;
    for (const ir::Dim& dim : buffer.dims) padded = padded || dim.pad > 0;
    for (std::int64_t i = 0; i < buffer.storageElements() && !padded; ++i) {
      if (close(buffer.dtype, want, got, i, ulps)) continue;
      FAIL(buffer.name << "[" << i << "] is " << ir::loadAsDouble(got, i) << ", expected "
                       << ir::loadAsDouble(want, i));
    }
  }
}

}  // namespace

const target::Target& host() {
  static const target::Target target = [] {
    auto loaded = target::load("host");
    REQUIRE((loaded.ok() ? "" : loaded.error().text()) == "");
    return *loaded;
  }();
  return target;
}

ir::Program program(std::string_view text) {
  auto parsed = ir::parse(text);
  REQUIRE((parsed.ok() ? "" : parsed.error().text() + "\n" + parsed.error().detail) == "");
  return std::move(parsed).value().program;
}

void agrees(std::string_view text, double ulps) {
  INFO(text);
  const ir::Program parsed = program(text);
  const auto llvm = codegen::llvmText(parsed, host());
  REQUIRE((llvm.ok() ? "" : llvm.error().text()) == "");
  INFO(*llvm);
  for (const ir::InputSet set : {ir::InputSet::uniform, ir::InputSet::awkward}) {
    compare(parsed, ir::makeInputs(parsed, set, 1), ulps);
  }
}

void refuses(std::string_view text, std::string_view code) {
  INFO(text);
  const Status status = moves::lowerable(program(text), host());
  REQUIRE(!status);
  CHECK(status.error().code == code);
}

}  // namespace dojo::test
