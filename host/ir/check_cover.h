// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Which executions of a read find that one write has been there before.
#pragma once

#include <optional>
#include <vector>

#include "ir/dependence_system.h"

namespace dojo::ir {

/// Executions of a write that come before a given execution of a read: those that agree with it in
/// the variables of depths < `shared`, and (`carried`) are from an earlier iteration at that depth.
/// Not carried: the write stands before the read at that depth.
struct EarlierWrites {
  const Site* write = nullptr;
  int shared = 0;
  bool carried = false;
  /// Given: they also come after this execution of another site. They agree with it in the
  /// variables of depths < `afterShared`, and (`afterCarried`) are from a later iteration at that
  /// depth.
  const Instance* after = nullptr;
  int afterShared = 0;
  bool afterCarried = false;
};

/// What is read: an execution of a site, or, at the end of the program, any element of an out.
struct Reading {
  const Site* site = nullptr;  ///< nullptr at the end of the program.
  Instance instance;
  std::vector<Sum> element;  ///< The index in each dim.
};

/// The executions of the read whose element one of `writes` has written, as a conjunction of
/// sums >= 0 over the system's variables (some new ones are added, which restrict nothing).
struct Cover {
  enum class Kind : std::uint8_t {
    exact,       ///< Written if, and only if, the conditions hold.
    sufficient,  ///< Written if they hold.
    unknown,     ///< Nothing can be said.
  };
  Kind kind = Kind::exact;
  bool never = false;  ///< They can't hold.
  std::vector<Sum> conditions;
};

/// The equation of the write's element with the read's is solved for the write's own iteration
/// variables: a unit coefficient directly, several (i*16 + j) by division with remainder or, where
/// they reach every value, as one. What isn't determined is eliminated.
[[nodiscard]] Cover coverOf(System& system, const Program& program, const Reading& reading,
                            const EarlierWrites& writes);

}  // namespace dojo::ir
