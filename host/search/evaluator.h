// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// All that search knows of compilers and devices: candidates go in, outcomes come out in order.
#pragma once

#include <optional>
#include <string>

#include "base/outcome.h"
#include "ir/program.h"
#include "moves/move.h"

namespace dojo::search {

/// A program and how it came about.
struct Candidate {
  ir::Program program;
  std::string text;    ///< print(program)
  moves::Trace trace;  ///< From the start program, atomic moves only.
};

/// Makes a candidate of a program.
[[nodiscard]] Candidate candidate(ir::Program program, moves::Trace trace);

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// Candidates to keep in flight so that no stage waits. At least 1.
  [[nodiscard]] virtual int depth() const { return 1; }
  /// Queues a candidate; doesn't wait for its outcome.
  virtual void submit(const Candidate& candidate) = 0;
  /// Waits for the outcome of the oldest candidate that is in flight; nullopt: the evaluation was
  /// stopped from outside, and nothing more will come.
  [[nodiscard]] virtual std::optional<Outcome> next() = 0;
};

}  // namespace dojo::search
