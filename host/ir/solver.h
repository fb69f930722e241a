// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Is a bounded system of linear integer constraints satisfiable? The engine under every
/// dependence question.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace dojo::ir {

/// unknown: not decided within the budget; callers refuse what they can't prove.
enum class Answer : std::uint8_t { no, yes, unknown };

/// Integer variables with bounds, and constraints lo <= sum coef*var <= hi. Made to be kept and
/// cleared: a System that has grown once allocates no more.
class System {
 public:
  struct Coef {
    int var;
    std::int64_t coef;
  };
  /// "No bound" on one side of a constraint.
  static constexpr std::int64_t kInfinity = std::int64_t{1} << 62;

  void clear();
  /// Returns the variable's number. lo <= value <= hi.
  int variable(std::int64_t lo, std::int64_t hi);
  /// A variable may be named more than once. Bounds may be -kInfinity and kInfinity.
  void constrain(std::span<const Coef> terms, std::int64_t lo, std::int64_t hi);
  void constrain(std::initializer_list<Coef> terms, std::int64_t lo, std::int64_t hi) {
    constrain(std::span<const Coef>(terms.begin(), terms.size()), lo, hi);
  }
  /// True where the bounds alone have already shown that nothing satisfies the system.
  [[nodiscard]] bool refuted() const { return refuted_; }

  /// Exact within `budget` search nodes (substitutions that keep the answer, interval
  /// propagation, greatest common divisors, bisection); a system still undecided is handed to isl
  /// with a bounded number of operations; only past that: unknown (counted, see undecidedCount).
  [[nodiscard]] Answer feasible(int budget = 2000) const;

  /// What has been added since a mark can be taken away again.
  struct Mark {
    std::size_t variables, constraints, terms;
    bool refuted, overflow;
  };
  [[nodiscard]] Mark mark() const;
  void rewind(const Mark& mark);

  struct Variable {
    std::int64_t lo, hi;
  };
  struct Constraint {
    std::uint32_t begin, end;  ///< Its terms in terms().
    std::int64_t lo, hi;
  };
  [[nodiscard]] const std::vector<Variable>& variables() const { return variables_; }
  /// Those that the bounds don't already guarantee.
  [[nodiscard]] const std::vector<Constraint>& constraints() const { return constraints_; }
  [[nodiscard]] const std::vector<Coef>& terms() const { return terms_; }

 private:
  std::vector<Variable> variables_;
  std::vector<Constraint> constraints_;
  std::vector<Coef> terms_;
  bool refuted_ = false;
  bool overflow_ = false;  ///< A sum may leave what int64 arithmetic holds.
};

/// How many questions ended in `unknown` in this process.
[[nodiscard]] std::uint64_t undecidedCount();

}  // namespace dojo::ir
