// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The solver's own method: substitutions that keep the answer, then bisection.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/solver.h"

namespace dojo::ir {

/// Non-negative; of 0 and x: |x|.
[[nodiscard]] std::int64_t greatestCommonDivisor(std::int64_t a, std::int64_t b);

/// Works on a dense copy of a system, whose arrays are kept from one question to the next.
///
/// Steps that keep the answer, until none applies:
///  - a constraint that the bounds imply goes, one in a single variable becomes its bounds, all
///    coefficients of a constraint are divided by their greatest common divisor;
///  - variables x, y that occur only as c*(x + m*y), where x has at least |m| values, become one
///    variable (differences i - i' and mixed radices i*16 + j are of this kind);
///  - a variable in a single constraint whose interval is at least as wide as its coefficient
///    widens that interval;
///  - an equation with a coefficient of 1 or -1 is solved for that variable.
/// What remains is searched, each independent part for itself.
class Reducer {
 public:
  /// unknown: the budget of search nodes is spent.
  [[nodiscard]] Answer solve(const System& system, int budget);

 private:
  using Int = std::int64_t;
  [[nodiscard]] Int& at(int var, int row) { return matrix_[index(var, row)]; }
  [[nodiscard]] std::size_t index(int var, int row) const {
    return static_cast<std::size_t>(var) * static_cast<std::size_t>(rowCount_) +
           static_cast<std::size_t>(row);
  }
  [[nodiscard]] Int& lo(int var) { return lo_[static_cast<std::size_t>(var)]; }
  [[nodiscard]] Int& hi(int var) { return hi_[static_cast<std::size_t>(var)]; }
  [[nodiscard]] Int& rowLo(int row) { return rowLo_[static_cast<std::size_t>(row)]; }
  [[nodiscard]] Int& rowHi(int row) { return rowHi_[static_cast<std::size_t>(row)]; }

  void load(const System& system);
  [[nodiscard]] bool tidyRows(bool& changed);
  [[nodiscard]] bool tidyRow(std::size_t position, bool& changed, bool& gone);
  void absorb(bool& changed);
  void merge(bool& changed);
  [[nodiscard]] bool tryMerge(int x, int y);
  [[nodiscard]] bool substituteOne();
  void dropEmptyColumns();

  [[nodiscard]] Answer searchParts(int& budget);
  [[nodiscard]] Answer search(const std::vector<int>& rows, int& budget, int depth);
  [[nodiscard]] bool propagate(const std::vector<int>& rows);

  int rowCount_ = 0;
  std::vector<Int> matrix_;   ///< Column (variable) by column.
  std::vector<Int> lo_, hi_;  ///< Bounds of variables.
  std::vector<Int> rowLo_, rowHi_;
  std::vector<int> rows_, columns_;  ///< Those still alive.
  std::vector<int> slot_;            ///< System variable -> column.
};

}  // namespace dojo::ir
