// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Is a bounded system of linear integer constraints satisfiable? The engine under every
/// dependence question.
#pragma once

#include <cstdint>
#include <vector>

namespace dojo::ir {

/// unknown: not decided within the budget; callers refuse what they can't prove.
enum class Answer : std::uint8_t { no, yes, unknown };

/// Integer variables with bounds, and constraints lo <= sum coef*var <= hi.
class System {
 public:
  /// Returns the variable's number. lo <= value <= hi.
  int variable(std::int64_t lo, std::int64_t hi);
  struct Coef {
    int var;
    std::int64_t coef;
  };
  void constrain(std::vector<Coef> terms, std::int64_t lo, std::int64_t hi);

  /// Exact within `budget` search nodes (interval propagation, greatest common divisors,
  /// difference variables, bisection); a system still undecided is handed to isl with a bounded
  /// number of operations; only past that: unknown (counted, see undecidedCount).
  [[nodiscard]] Answer feasible(int budget = 2000) const;

  struct Variable {
    std::int64_t lo, hi;
  };
  struct Constraint {
    std::vector<Coef> terms;
    std::int64_t lo, hi;
  };
  [[nodiscard]] const std::vector<Variable>& variables() const { return variables_; }
  [[nodiscard]] const std::vector<Constraint>& constraints() const { return constraints_; }

 private:
  std::vector<Variable> variables_;
  std::vector<Constraint> constraints_;
};

/// How many questions ended in `unknown` in this process.
[[nodiscard]] std::uint64_t undecidedCount();

}  // namespace dojo::ir
