// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Copies of a region beside the computation that uses it: what cache_read, cache_write and
/// forward_copy share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/dependence.h"
#include "ir/program.h"
#include "ir/tree.h"
#include "moves/rule.h"
#include "moves/rules/flow.h"

namespace dojo::moves {

struct CacheRequest {
  ir::Path place;  ///< A scope, or the empty path: the whole program.
  ir::BufferId buffer = -1;
  std::string location;
  std::string name;  ///< Of the copy.
};

/// The elements that one iteration touches, in the variables of its scope and those around.
struct Region {
  std::vector<ir::BoxDim> box;
  /// Whether a dim is one of the copy's: not where all indices are the same.
  std::vector<bool> walked;
};

struct CachePlan {
  Region region;
  bool copyIn = true, copyOut = false;
};

/// The sites of the buffer in the body of `place`; refused where it is an index buffer there or is
/// gathered from.
[[nodiscard]] Result<std::vector<const ir::Site*>> sitesBelow(const ir::Accesses& accesses,
                                                              const CacheRequest& request);

/// The precondition of cache_read / cache_write. The location is not looked at.
[[nodiscard]] Result<CachePlan> planCacheRead(const ir::Accesses& accesses,
                                              const CacheRequest& request);
[[nodiscard]] Result<CachePlan> planCacheWrite(const ir::Accesses& accesses,
                                               const CacheRequest& request);
/// The effect; not canonical.
[[nodiscard]] ir::Program applyCache(const ir::Program& program, const CacheRequest& request,
                                     const CachePlan& plan);

/// The buffer's elements that the sites touch in one iteration of `place`: each has its
/// own storage, and a copy fits.
[[nodiscard]] Result<Region> regionOf(const ir::Program& program, const CacheRequest& request,
                                      const std::vector<const ir::Site*>& sites);
/// True where every element of the region of the buffer surely has a value whenever child
/// `position` of the body of `place` starts: the buffer is an argument that comes with values, or
/// its writes before prove it. `first` are sites from there on in the body that read the buffer
/// before anything there writes it.
[[nodiscard]] bool initialised(const ir::Accesses& accesses, const CacheRequest& request,
                               int position, const Region& region,
                               const std::vector<const ir::Site*>& first);

/// The children of the body of `place` that write every element of the region anew, in each
/// iteration, before child `position`; nullopt where that wasn't proved. `leastFixed`: or such
/// children of a body around it with at least so many scopes around.
[[nodiscard]] std::optional<Definition> regionDefinition(const ir::Accesses& accesses,
                                                         const CacheRequest& request, int position,
                                                         const Region& region, int leastFixed);

/// The region walked by plain scopes directly in the body of `place`.
struct RegionNest {
  std::vector<std::int64_t> extents;  ///< Of the scopes and of the copy's dims.
  std::vector<ir::Affine> outer;      ///< Indices of the buffer.
  std::vector<ir::Affine> inner;      ///< The scopes' variables.
  ir::Guard guard;                    ///< Keeps the buffer's indices within its dims.
};
[[nodiscard]] RegionNest regionNest(const ir::Program& program, const CacheRequest& request,
                                    const Region& region);
/// The same, its guard keeping the indices within `limits`, one for each dim.
[[nodiscard]] RegionNest regionNest(const ir::Program& program, const CacheRequest& request,
                                    const Region& region, const std::vector<ir::Interval>& limits);
/// The indices in the copy of an access of the buffer.
[[nodiscard]] std::vector<ir::Affine> indicesInBox(const ir::Access& access, const Region& region);

/// Arguments of both moves: P B loc [T].
[[nodiscard]] Result<CacheRequest> cacheRequest(const State& state, const std::vector<Arg>& args);
/// Choices of both moves at one place: buffers with an access below that satisfies `wanted`.
void cacheChoices(const State& state, const ir::Visit& place, ir::Touch wanted,
                  std::vector<std::vector<Arg>>& out);

}  // namespace dojo::moves
