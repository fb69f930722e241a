// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every operation on every dtype it has, in scalar code and in vectors of many widths.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "ir/numeric.h"
#include "unit/codegen/compare.h"

namespace dojo::test {
namespace {

using ir::DType;
using ir::Op;

constexpr DType kTypes[] = {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64,
                            DType::i32, DType::i16, DType::i8,  DType::u8,   DType::boolean};

bool computesIn(const ir::OpInfo& op, DType type) {
  if (ir::isFloat(type)) return op.floats;
  return type == DType::boolean ? op.bools : op.integers;
}

std::string rightSide(const ir::OpInfo& op) {
  const auto operand = [&](int i) {
    if (op.op == Op::select) return i == 0 ? "c[{0}]" : i == 1 ? "x[{0}]" : "y[{0}]";
    return i == 0 ? "x[{0}]" : i == 1 ? "y[{0}]" : "w[{0}]";
  };
  if (op.op == Op::copy) return operand(0);
  if (op.infix) return fmt::format("{} {} {}", operand(0), op.spelling, operand(1));
  std::string text(op.spelling);
  for (int i = 0; i < op.arity; ++i) text += (i == 0 ? "(" : ", ") + std::string(operand(i));
  return text + ")";
}

double tolerance(Op op, DType type) {
  switch (op) {
    case Op::exp:
    case Op::log:
    case Op::tanh:
    case Op::erf:
    case Op::sigmoid:
    case Op::rsqrt:
      return ir::formatOf(type).functionUlps;
    case Op::pow:
      return ir::formatOf(type).powUlps;
    default:
      return 0;
  }
}

/// `divisors`: what the values of y are declared to be.
std::string kernel(std::string_view scope, DType operands, DType result, const std::string& right,
                   std::string_view divisors = "") {
  return fmt::format(R"(kernel op
in  x {0} [37]
in  y {0} [37]{4}
in  w {0} [37]
in  c bool [37]
out z {1} [37]

{2}
| z[{{0}}] = {3}
)",
                     ir::name(operands), ir::name(result), scope, right, divisors);
}

constexpr std::string_view kScopes[] = {"37", "37:vector"};

}  // namespace

TEST_CASE("operations") {
  for (const ir::OpInfo& op : ir::allOps()) {
    if (op.op == Op::cast || op.op == Op::satCast) continue;
    for (const DType type : kTypes) {
      if (!computesIn(op, type)) continue;
      for (const std::string_view scope : kScopes) {
        const DType result = op.comparison ? DType::boolean : type;
        const std::string right = rightSide(op);
        if (op.op == Op::div && !ir::isFloat(type)) {
          agrees(kernel(scope, type, result, right, " in [1, 9)"));
          if (type != DType::u8) agrees(kernel(scope, type, result, right, " in [-3, 0)"));
        } else {
          agrees(kernel(scope, type, result, right), tolerance(op.op, type));
        }
      }
    }
  }
}

TEST_CASE("casts") {
  for (const ir::OpInfo& op : ir::allOps()) {
    if (op.op != Op::cast && op.op != Op::satCast) continue;
    for (const DType from : kTypes) {
      for (const DType to : kTypes) {
        if (from == to || !computesIn(op, from) || !computesIn(op, to)) continue;
        for (const std::string_view scope : kScopes) {
          agrees(kernel(scope, from, to, fmt::format("{}(x[{{0}}])", op.spelling)));
        }
      }
    }
  }
}

TEST_CASE("widths of vectors") {
  for (const DType type : {DType::f64, DType::f32, DType::f16, DType::i8}) {
    for (const int lanes : {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 48, 63, 64}) {
      agrees(fmt::format(R"(kernel widths
in  x {0} [3, {1}]
in  y {0} [3, {1}]
out z {0} [3, {1}]
tmp t {0} [{1}] @register

3
| {1}:vector
| | t[{{1}}] = x[{{0}}, {{1}}] + y[{{0}}, {{1}}]
| {1}:vector
| | z[{{0}}, {{1}}] = t[{{1}}] * y[{{0}}, {{1}}]
)",
                         ir::name(type), lanes));
    }
  }
}

TEST_CASE("reductions over lanes") {
  for (const DType type : kTypes) {
    if (type == DType::boolean) continue;
    for (const std::string_view reduction : {"+=", "*=", "max=", "min="}) {
      for (const int lanes : {1, 4, 5, 16, 17, 32}) {
        agrees(fmt::format(R"(kernel reduce
in    x {0} [3, {1}]
inout z {0} [3]

3
| {1}:vector
| | z[{{0}}] {2} x[{{0}}, {{1}}]
)",
                           ir::name(type), lanes, reduction),
               ir::isFloat(type) ? kCarried : 0);
      }
    }
  }
}

TEST_CASE("contracted and plain sums of products") {
  for (const DType type : kTypes) {
    if (type == DType::boolean) continue;
    for (const std::string_view assign : {"+=", "fma+="}) {
      for (const std::string_view scope : {"5", "5:unroll", "5:vector"}) {
        // Element by element: exact.
        agrees(fmt::format(R"(kernel product
in    x {0} [5]
in    y {0} [5]
inout z {0} [5]

{1}
| z[{{0}}] {2} x[{{0}}] * y[{{0}}]
)",
                           ir::name(type), scope, assign));
        agrees(fmt::format(R"(kernel dot
in    x {0} [5]
in    y {0} [5]
inout z {0} []

{1}
| z[] {2} x[{{0}}] * y[{{0}}]
)",
                           ir::name(type), scope, assign),
               ir::isFloat(type) && scope == "5:vector" ? kCarried : 0);
      }
    }
  }
}

TEST_CASE("operands of narrower types") {
  agrees(R"(kernel mixed
in  x i8 [40]
in  y i8 [40]
out z i32 [40]
out s i32 []
tmp p i32 [~40] @register

s[] = 0
40:vector
| p[{0}] = x[{0}] * y[{0}]
| z[{0}] = p[{0}] + 1000
| s[] += p[{0}]
)");
  agrees(R"(kernel index
in  x f16 [20]
out y f32 [20]
out z f64 [20]
tmp i f32 [~20] @register

20:vector
| i[{0}] = cast({0})
| y[{0}] = x[{0}] + i[{0}]
| z[{0}] = x[{0}] * 0.1
)");
  agrees(R"(kernel compare
in  x u8 [20]
in  y i64 [20]
out z bool [20]
out w i64 [20]

20:vector
| z[{0}] = x[{0}] < y[{0}]
| w[{0}] = 3*{0} - 7
)");
}

}  // namespace dojo::test
