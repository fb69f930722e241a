// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A hand-scheduled matmul against a loop of nothing but fused multiply-adds, in the same run.
#include <algorithm>
#include <chrono>
#include <iostream>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "codegen/codegen.h"
#include "ir/interpret.h"
#include "ir/parse.h"
#include "run_here/run_here.h"

namespace dojo::test {
namespace {

/// Rows by vectors of accumulators, b packed by blocks of columns.
std::string matmulText(int rows, int vectors, int lanes) {
  const int columns = vectors * lanes;
  return fmt::format(R"(kernel matmul
in  a f32 [480, 512]
in  b f32 [512, 512]
out c f32 [480, 512]
tmp p f32 [{blocks}, 512, {columns}]
tmp t f32 [{rows}, {vectors}, {lanes}] @register

{blocks}
| 512
| | {vectors}:unroll
| | | {lanes}:vector
| | | | p[{{0}}, {{1}}, {lanes}*{{2}} + {{3}}] = b[{{1}}, {columns}*{{0}} + {lanes}*{{2}} + {{3}}]
{blocks}
| {panels}
| | {rows}:unroll
| | | {vectors}:unroll
| | | | {lanes}:vector
| | | | | t[{{2}}, {{3}}, {{4}}] = 0
| | 512
| | | {rows}:unroll
| | | | {vectors}:unroll
| | | | | {lanes}:vector
| | | | | | t[{{3}}, {{4}}, {{5}}] fma+= a[{rows}*{{1}} + {{3}}, {{2}}] * p[{{0}}, {{2}}, {lanes}*{{4}} + {{5}}]
| | {rows}:unroll
| | | {vectors}:unroll
| | | | {lanes}:vector
| | | | | c[{rows}*{{1}} + {{2}}, {columns}*{{0}} + {lanes}*{{3}} + {{4}}] = t[{{2}}, {{3}}, {{4}}]
)",
                     fmt::arg("rows", rows), fmt::arg("vectors", vectors), fmt::arg("lanes", lanes),
                     fmt::arg("columns", columns), fmt::arg("blocks", 512 / columns),
                     fmt::arg("panels", 480 / rows));
}

/// 16 chains, 200,000 rounds.
std::string peakText(int lanes) {
  return fmt::format(R"(kernel peak
in  x f32 [2, {lanes}]
out y f32 [16, {lanes}]
tmp r f32 [2, {lanes}] @register
tmp t f32 [16, {lanes}] @register

2:unroll
| {lanes}:vector
| | r[{{0}}, {{1}}] = x[{{0}}, {{1}}]
16:unroll
| {lanes}:vector
| | t[{{0}}, {{1}}] = 0
200000
| 16:unroll
| | {lanes}:vector
| | | t[{{1}}, {{2}}] fma+= r[0, {{2}}] * r[1, {{2}}]
16:unroll
| {lanes}:vector
| | y[{{0}}, {{1}}] = t[{{0}}, {{1}}]
)",
                     fmt::arg("lanes", lanes));
}

class Timed {
 public:
  Timed(const std::string& text, const target::Target& target, double operations)
      : program_(ir::parse(text).value().program),
        loaded_(Loaded::load(codegen::compile(program_, target).value().bytes).value()),
        buffers_(program_, ir::makeInputs(program_, ir::InputSet::uniform, 1)),
        operations_(operations) {}

  void sample() {
    loaded_.call(buffers_.pointers());  // Warms the caches.
    const auto start = std::chrono::steady_clock::now();
    loaded_.call(buffers_.pointers());
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    best_ = std::max(best_, operations_ / seconds.count());
  }
  [[nodiscard]] double best() const { return best_; }

 private:
  ir::Program program_;
  Loaded loaded_;
  CallBuffers buffers_;
  double operations_;
  double best_ = 0;
};

}  // namespace

TEST_CASE("a register-blocked matmul runs near the multiply-add peak", "[performance]") {
  const target::Target target = target::load("host").value();
  const int lanes = target.lanes(4);
  if (lanes < 8) return;
  Timed peak(peakText(lanes), target, 2.0 * 16 * lanes * 200000);
  double bestRatio = 0;
  for (const auto& [rows, vectors] : {std::pair{8, 2}, {12, 2}, {6, 2}, {6, 4}}) {
    Timed matmul(matmulText(rows, vectors, lanes), target, 2.0 * 480 * 512 * 512);
    for (int i = 0; i < 100; ++i) {
      peak.sample();
      matmul.sample();
    }
    const double ratio = matmul.best() / peak.best();
    bestRatio = std::max(bestRatio, ratio);
    std::cout << fmt::format("{}x{}: {:.1f} GFLOP/s of {:.1f}, ratio {:.3f}\n", rows, vectors,
                             matmul.best() / 1e9, peak.best() / 1e9, ratio);
  }
  CHECK(bestRatio >= 0.9);
}

TEST_CASE("compiling takes a few milliseconds", "[performance]") {
  const target::Target target = target::load("host").value();
  const int lanes = target.lanes(4);
  const ir::Program program = ir::parse(matmulText(8, 2, lanes)).value().program;
  double best = 1;
  for (int i = 0; i < 30; ++i) {
    const auto start = std::chrono::steady_clock::now();
    REQUIRE(codegen::compile(program, target).ok());
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    best = std::min(best, seconds.count());
  }
  std::cout << fmt::format("compile: {:.2f} ms\n", best * 1e3);
  CHECK(best < 0.006);
}

}  // namespace dojo::test
