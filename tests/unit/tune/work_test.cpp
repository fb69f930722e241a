// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/work.h"

#include <catch2/catch.hpp>

#include "ir/parse.h"
#include "kernels/kernels.h"

using namespace dojo;

namespace {

tune::Work workOf(const std::string& kernel, std::map<std::string, std::int64_t> shape) {
  ir::ParseOptions options;
  options.params = std::move(shape);
  return tune::countWork(kernels::load(kernel, options)->program);
}

}  // namespace

TEST_CASE("a matmul is 2 M N K operations and its three matrices") {
  const tune::Work work = workOf("matmul", {{"M", 4}, {"N", 6}, {"K", 8}});
  CHECK(*work.flops == 2 * 4 * 6 * 8);
  CHECK(*work.terms == 4 * 6 * 8);
  CHECK(work.bytes == 4 * (4 * 8 + 8 * 6 + 4 * 6));
  CHECK(work.executions == 4 * 6 * 9);
}

TEST_CASE("guards are counted exactly: a convolution with its border") {
  const tune::Work work =
      workOf("conv2d", {{"N", 1}, {"C", 2}, {"H", 5}, {"W", 4}, {"K", 3}, {"stride", 1}});
  // A dim of n has n outputs of 3 taps each, less one tap at either end.
  const double taps = (3 * 5 - 2) * (3 * 4 - 2);
  CHECK(*work.terms == 2 * 3 * taps);
  CHECK(*work.flops == 2 * *work.terms);
}

TEST_CASE("inout arguments count twice, integers aren't floating-point operations") {
  const tune::Work axpy = workOf("axpy", {{"N", 100}});
  CHECK(axpy.bytes >= 4 * 300);
  const tune::Work integers = tune::countWork(ir::parse(R"(kernel k
in x i32 [8]
out y i32 [8]

8
| y[{0}] = x[{0}] * 2
)")
                                                  ->program);
  CHECK(*integers.flops == 0);
  CHECK(integers.executions == 8);
}

TEST_CASE("of a table that is gathered from, what is read counts") {
  const tune::Work work = workOf("embedding", {{"N", 3}, {"V", 1000}, {"D", 8}});
  CHECK(work.bytes == 4 * (3 + 3 * 8 + 3 * 8));
}
