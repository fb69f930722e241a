// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Which writes give a read its value: what the buffer moves prove.
///
/// Everything here speaks of the sequential order; that concurrent scopes keep it is rule 4, which
/// every move re-proves on its result.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/dependence.h"
#include "ir/program.h"
#include "ir/solver.h"
#include "ir/tree.h"

namespace dojo::moves {

/// Shared scopes (the first `fixed` ones around a read) in whose every iteration the value read is
/// written anew, by children from `firstChild` on, before the read.
struct Definition {
  int fixed = 0;
  int firstChild = 0;
};

/// For `exactDim`: indices in every dim must be the same.
constexpr int kEveryDim = -2;

/// The innermost such place for `read` with at least `leastFixed` shared scopes; nullopt where none
/// was proved. Indices in dims without storage (`~`) may differ, except in `exactDim`.
[[nodiscard]] std::optional<Definition> definitionOf(const ir::Accesses& accesses,
                                                     const ir::Site& read, int leastFixed = 0,
                                                     int exactDim = -1);

/// An execution of `write`, in the same iteration of the first `fixed` scopes, that touches the
/// element of each execution of `read`: all its variables, by depth, in those of the read. nullopt
/// where that wasn't proved.
[[nodiscard]] std::optional<std::vector<ir::Affine>> sameElement(const ir::Accesses& accesses,
                                                                 const ir::Site& write,
                                                                 const ir::Site& read, int fixed);

/// Proves, for a valid program, that for every read of `buffer` the value is the same whether dim
/// `dim` has a storage element for each index or `fold` of them; the program may have either.
/// Returns the read for which that failed, or nullptr.
[[nodiscard]] const ir::Site* foldHarms(const ir::Accesses& accesses, ir::BufferId buffer, int dim,
                                        std::int64_t fold);

/// Proves that every read of the buffer, which stands in scopes of one extent at depth `depth`,
/// gets a value written for the same value of their variable. Returns the read for which that
/// failed, or nullptr.
[[nodiscard]] const ir::Site* readsAcross(const ir::Accesses& accesses, ir::BufferId buffer,
                                          int depth);

/// True where the sites, in every iteration of the scopes at depths < `fixed`, together touch each
/// element of `box` (in logical indices): no guards, no gaps.
[[nodiscard]] bool touchesAll(const ir::Program& program, const std::vector<const ir::Site*>& sites,
                              const std::vector<ir::BoxDim>& box, int fixed);

/// True where lo <= expr < hi on every execution of a node inside `enclosing` that carries `guard`
/// (guards of the scopes around it count too).
[[nodiscard]] bool alwaysWithin(const ir::Program& program,
                                const std::vector<const ir::Node*>& enclosing,
                                const ir::Guard& guard, const ir::Affine& expr, std::int64_t lo,
                                std::int64_t hi);

/// True where the nodes from depth `from` down to the site run at least once in each iteration of
/// the scopes above: constant extents and no guards that could fail.
[[nodiscard]] bool runsAlways(const ir::Program& program, const ir::Site& site, int from);

}  // namespace dojo::moves
