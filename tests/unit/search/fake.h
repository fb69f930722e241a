// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// An evaluator without a device: the score is a function of the program.
#pragma once

#include <deque>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "ir/parse.h"
#include "search/evaluator.h"

namespace dojo::test {

/// Cycles that a simple machine would take: leaf executions, vectors and unrolled bodies for less.
inline double simpleCycles(const ir::Program& program) {
  double cycles = 0;
  ir::walk(program, [&](const ir::Visit& visit) {
    if (!visit.node->isLeaf()) return true;
    double each = 1;
    for (const ir::Node* scope : visit.enclosing) {
      const auto n = static_cast<double>(scope->scope().extent.count);
      const ir::Mapping& mapping = scope->scope().mapping;
      each *= mapping.has(ir::MapKind::vector)   ? std::max(1.0, n / 16)
              : mapping.has(ir::MapKind::unroll) ? n * 0.9
                                                 : n;
    }
    const std::string& location = program.buffer(visit.node->leaf().dst.buffer).location;
    cycles += each * (location == "register" ? 1 : 2);
    return true;
  });
  return cycles;
}

class FakeEvaluator final : public search::Evaluator {
 public:
  std::vector<std::string> submitted;
  /// Called with the number of the submission; may change the outcome.
  std::function<void(std::size_t, Outcome&)> twist;
  std::size_t stopAfter = SIZE_MAX;  ///< Outcomes.

  void submit(const search::Candidate& candidate) override {
    Measurement m;
    m.cycles = m.score = simpleCycles(candidate.program);
    m.samples = {m.cycles};
    Outcome outcome;
    outcome.result = m;
    if (twist) twist(submitted.size(), outcome);
    submitted.push_back(candidate.text);
    waiting_.push_back(outcome);
  }
  std::optional<Outcome> next() override {
    if (given_ == stopAfter) return std::nullopt;
    ++given_;
    Outcome out = waiting_.front();
    waiting_.pop_front();
    return out;
  }

 private:
  std::deque<Outcome> waiting_;
  std::size_t given_ = 0;
};

class FakeClock final : public Clock {
 public:
  double time = 0;
  double step = 0;  ///< Passes with each look.
  double now() override { return time += step; }
  void sleep(double seconds) override { time += seconds; }
};

inline ir::Program matmul(int m = 32, int n = 64, int k = 16) {
  const std::string text = "kernel matmul\nparam M = " + std::to_string(m) +
                           ", N = " + std::to_string(n) + ", K = " + std::to_string(k) + R"(
in a f32 [M, K]
in b f32 [K, N]
out c f32 [M, N]

M
| N
| | c[{0}, {1}] = 0
| | K
| | | c[{0}, {1}] += a[{0}, {2}] * b[{2}, {1}]
)";
  return ir::parse(text)->program;
}

}  // namespace dojo::test
