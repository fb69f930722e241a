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

void compare(const ir::Program& program, const Loaded& kernel,
             const std::vector<ir::Tensor>& inputs, double ulps) {
  const auto expected = ir::interpret(program, inputs);
  REQUIRE((expected.ok() ? "" : expected.error().text()) == "");
  std::vector<std::vector<ir::Bounded>> bounds(inputs.size());
  if (ulps == kCarried) {
    auto reference = ir::reference(program, inputs);
    REQUIRE((reference.ok() ? "" : reference.error().text()) == "");
    bounds = std::move(reference).value();
  }
  const CallBuffers buffers(program, inputs);
  kernel.call(buffers.pointers());
  REQUIRE(buffers.guardsIntact());
  const std::vector<ir::Tensor> actual = buffers.arguments();
  std::size_t argument = 0;
  for (const ir::Buffer& buffer : program.buffers) {
    if (!buffer.isArgument()) continue;
    const ir::Tensor& want = (*expected)[argument];
    const ir::Tensor& got = actual[argument];
    const std::vector<ir::Bounded>& bound = bounds[argument++];
    if (buffer.role == ir::Role::in) {
      REQUIRE(want.bytes == got.bytes);
      continue;
    }
    bool padded = false;
    for (const ir::Dim& dim : buffer.dims) padded = padded || dim.pad > 0;
    if (bound.empty() && padded) continue;
    for (std::int64_t i = 0; i < buffer.storageElements(); ++i) {
      const ir::Bounded* reference = bound.empty() ? nullptr : &bound[static_cast<std::size_t>(i)];
      if (reference == nullptr ? close(buffer.dtype, want, got, i, ulps)
                               : ir::excess(*reference, got, i) <= 1) {
        continue;
      }
      if (reference != nullptr) {
        UNSCOPED_INFO("its reference is " << reference->value << " within " << reference->bound);
      }
      FAIL(buffer.name << "[" << i << "] is " << ir::loadAsDouble(got, i) << ", interpreted "
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

namespace {

target::Target narrower(const char* cpu, int bits) {
  target::Target target = host();
  target.name = cpu;
  target.cpu = cpu;
  target.features = "";
  target.vector.bits = bits;
  return target;
}

}  // namespace

const target::Target& middling() {
  static const target::Target target = narrower("x86-64-v3", 256);
  return target;
}

const target::Target& plain() {
  static const target::Target target = [] {
    target::Target out = narrower("x86-64", 128);
    out.vector.fma = false;
    return out;
  }();
  return target;
}

ir::Program program(std::string_view text) {
  auto parsed = ir::parse(text);
  REQUIRE((parsed.ok() ? "" : parsed.error().text() + "\n" + parsed.error().detail) == "");
  return std::move(parsed).value().program;
}

void agrees(std::string_view text, double ulps, const target::Target* target) {
  if (target == nullptr) target = &host();
  INFO(text);
  const ir::Program parsed = program(text);
  const auto llvm = codegen::llvmText(parsed, *target);
  REQUIRE((llvm.ok() ? "" : llvm.error().text()) == "");
  INFO(*llvm);
  const auto object = codegen::compile(parsed, *target);
  REQUIRE((object.ok() ? "" : object.error().text()) == "");
  const auto kernel = Loaded::load(object->bytes);  // Finds no function but the runner's services.
  REQUIRE((kernel.ok() ? "" : kernel.error().text()) == "");
  for (const ir::InputSet set :
       {ir::InputSet::uniform, ir::InputSet::exact, ir::InputSet::awkward}) {
    compare(parsed, *kernel, ir::makeInputs(parsed, set, 1), ulps);
  }
}

void refuses(std::string_view text, std::string_view code, const target::Target* target) {
  if (target == nullptr) target = &host();
  INFO(text);
  const Status status = moves::lowerable(program(text), *target);
  REQUIRE(!status);
  CHECK(status.error().code == code);
}

}  // namespace dojo::test
