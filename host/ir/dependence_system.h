// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Executions of sites as variables and constraints of a System.
#pragma once

#include <array>
#include <vector>

#include "ir/dependence.h"
#include "ir/solver.h"

namespace dojo::ir {

/// One execution of a site: the system variable for each of its iteration variables.
struct Instance {
  const Site* site = nullptr;
  std::array<int, kMaxDepth> variables;

  [[nodiscard]] int variable(int depth) const { return variables[static_cast<std::size_t>(depth)]; }
};

/// A sum of terms and a constant.
struct Sum {
  std::vector<System::Coef> terms;
  std::int64_t constant = 0;

  void clear() {
    terms.clear();
    constant = 0;
  }
  void add(int variable, std::int64_t coef) { terms.push_back({variable, coef}); }
  /// Adds factor * expr, its variables being those of the instance.
  void add(const Affine& expr, const Instance& instance, std::int64_t factor = 1);
  void add(const Sum& other, std::int64_t factor = 1);
  /// lo <= sum <= hi, either of which may be infinite.
  void constrain(System& system, std::int64_t lo, std::int64_t hi) const;
  void equals(System& system, std::int64_t value) const { constrain(system, value, value); }
  /// The values that the bounds of the variables allow.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> bounds(const System& system) const;
};

/// Adds variables for the scopes around the site from depth `from` on; those before are set.
void addVariables(System& system, const Program& program, Instance& instance, int from = 0);
/// Adds the guards of the enclosing scopes at depths >= `from`, and of the site's own node.
void addGuards(System& system, const Instance& instance, int from = 0);
/// An index of the site's access; a gathered one is a new variable within the declared values.
void addIndex(System& system, const Program& program, const Instance& instance, std::size_t dim,
              Sum& out, std::int64_t factor = 1);

/// The constraints under which both fall on one element of the storage that their buffers are in.
/// False where they can't. `indices`: those of `b`, where they were added before.
[[nodiscard]] bool addSameStorage(System& system, const Program& program, const Instance& a,
                                  const Instance& b, const std::vector<Sum>* indices = nullptr);

/// meet() as though the two buffers shared storage, for programs without private storage.
[[nodiscard]] Answer meetIfShared(const Accesses& accesses, const Site& a, const Site& b,
                                  const std::vector<Relation>& relations);

}  // namespace dojo::ir
