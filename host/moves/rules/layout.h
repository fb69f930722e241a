// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// How the elements of a buffer lie in storage: what reorder_dims, split_dim, join_dims and pad_dim
/// share.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ir/program.h"
#include "moves/rule.h"

namespace dojo::moves {

/// True for a tmp, and for a packed argument that is no index buffer.
[[nodiscard]] bool hasOurLayout(const ir::Buffer& buffer);
/// Refuses ("move.role") a buffer whose layout isn't ours.
[[nodiscard]] Status needsOurLayout(const ir::Buffer& buffer);
/// Refuses ("move.dim") where the buffer has no dim of that number.
[[nodiscard]] Status needsDim(const ir::Buffer& buffer, std::int64_t d);
/// Calls fn for each buffer at the place whose layout is ours.
void forEachLayoutAt(const State& state, const ir::Visit& place,
                     const std::function<void(const ir::Buffer&)>& fn);

/// Dim d as n/f of f, so that no element moves and the same indices share storage; nullopt where
/// two dims can't say that.
[[nodiscard]] std::optional<std::pair<ir::Dim, ir::Dim>> splitDims(const ir::Dim& dim,
                                                                   std::int64_t f);
/// The way back of splitDims.
[[nodiscard]] std::optional<ir::Dim> joinDims(const ir::Dim& outer, const ir::Dim& inner);

/// index = outer * f + inner with 0 <= inner < f whenever the node inside `enclosing` that carries
/// `guard` runs; nullopt where no affine expressions were found.
struct SplitIndex {
  ir::Affine outer, inner;
  bool operator==(const SplitIndex&) const = default;
};
[[nodiscard]] std::optional<SplitIndex> splitIndex(const ir::Program& program,
                                                   const std::vector<const ir::Node*>& enclosing,
                                                   const ir::Guard& guard, const ir::Affine& index,
                                                   std::int64_t f);

/// Calls fn(visit, access) for each access of the buffer, which is no index buffer, in the tree; fn
/// may change the access.
void forEachUse(ir::Program& program, ir::BufferId buffer,
                const std::function<void(const ir::Visit&, ir::Access&)>& fn);

}  // namespace dojo::moves
