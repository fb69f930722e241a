// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transfers become calls of services; they are waited for no earlier than need be.
#include <catch2/catch.hpp>

#include "codegen/codegen.h"
#include "unit/codegen/compare.h"

namespace dojo::test {
namespace {

const target::Target& snitch() {
  static const target::Target target = target::load("snitch").value();
  return target;
}

/// Copies (c), waits (w) and additions (+) in the order of the module's text.
std::string events(const std::string& text) {
  const auto llvm = codegen::llvmText(program(text), snitch());
  REQUIRE((llvm.ok() ? "" : llvm.error().text()) == "");
  std::string out;
  std::size_t at = 0;
  while (at < llvm->size()) {
    const std::size_t end = llvm->find('\n', at);
    const std::string line = llvm->substr(at, end - at);
    at = end == std::string::npos ? llvm->size() : end + 1;
    if (line.find("call void @dojo_dma_copy2d") != std::string::npos) out += 'c';
    if (line.find("call void @dojo_dma_wait") != std::string::npos) out += 'w';
    if (line.find("fadd") != std::string::npos) out += '+';
  }
  return out;
}

std::string copyCall(const std::string& text) {
  const std::string llvm = codegen::llvmText(program(text), snitch()).value();
  const std::size_t at = llvm.find("call void @dojo_dma_copy2d");
  REQUIRE(at != std::string::npos);
  const std::string call = llvm.substr(at, llvm.find('\n', at) - at);
  return call.substr(call.find("i32"));
}

}  // namespace

TEST_CASE("a transfer is waited for before what it brought is used") {
  CHECK(events(R"(kernel near
in x f64 [16, 16] @dram
out y f64 [16]
tmp t f64 [~16, 16]

16
| 16:dma
| | t[{0}, {1}] = x[{0}, {1}]
| y[{0}] = 0
| 16
| | y[{0}] += t[{0}, {1}]
)") == "cw+");
}

TEST_CASE("a transfer into the other half runs beside the computation") {
  CHECK(events(R"(kernel ahead
in x f64 [16, 16] @dram
out y f64 [16]
tmp t f64 [16~2, 16]

16:dma
| t[0, {0}] = x[0, {0}]
15
| 16:dma
| | t[{0} + 1, {1}] = x[{0} + 1, {1}]
| y[{0}] = 0
| 16
| | y[{0}] += t[{0}, {1}]
y[15] = 0
16
| y[15] += t[15, {0}]
)") == "cwc+w+");
}

TEST_CASE("rows and strides of transfers") {
  // A box of 4 rows of 8 from rows of 32; one piece where rows follow one another; columns are
  // elements apart.
  CHECK(copyCall(R"(kernel box
in x f64 [16, 32] @dram
out y f64 [4, 8]

4:dma
| 8
| | y[{0}, {1}] = x[{0} + 3, {1} + 5]
)") == "i32 64, i32 64, i32 256, i32 4)");
  CHECK(copyCall(R"(kernel whole
in x f64 [16, 32] @dram
out y f64 [16, 32]

16:dma
| 32
| | y[{0}, {1}] = x[{0}, {1}]
)") == "i32 4096, i32 0, i32 0, i32 1)");
  CHECK(copyCall(R"(kernel column
in x f64 [16, 32] @dram
out y f64 [16]

16:dma
| y[{0}] = x[{0}, 7]
)") == "i32 8, i32 8, i32 256, i32 16)");
}

}  // namespace dojo::test
