// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/rules/cache.h"

#include <algorithm>

#include "ir/print.h"
#include "moves/clause.h"
#include "moves/rules/edits.h"
#include "moves/rules/flow.h"

namespace dojo::moves {

namespace {

using ir::Affine;
using ir::Site;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

Error neverWritten(const ir::Accesses& accesses, const CacheRequest& request) {
  return refuse("move.unwritten",
                "copying the region would read elements of '" +
                    accesses.program().buffer(request.buffer).name + "' that may have no value yet",
                request.place);
}

}  // namespace

Result<std::vector<const Site*>> sitesBelow(const ir::Accesses& accesses,
                                            const CacheRequest& request) {
  const ir::Program& program = accesses.program();
  const std::string& name = program.buffer(request.buffer).name;
  for (const ir::Node& node : bodyOf(program, request.place)) {
    if (indexesWith(node, request.buffer)) {
      return refuse("move.gather", "'" + name + "' is an index buffer in this body: it stays",
                    request.place);
    }
  }
  std::vector<const Site*> out;
  for (const Site* site : accesses.below(request.place)) {
    if (site->access.buffer != request.buffer || site->path == request.place) continue;
    for (const ir::Index& index : site->access.indices) {
      if (!index.isGather()) continue;
      return refuse("move.gather", "the region that a gather reads is known at run time only",
                    site->path);
    }
    out.push_back(site);
  }
  return out;
}

RegionNest regionNest(const ir::Program& program, const CacheRequest& request,
                      const Region& region) {
  std::vector<ir::Interval> limits;
  for (const ir::Dim& dim : program.buffer(request.buffer).dims) limits.push_back({0, dim.extent});
  return regionNest(program, request, region, limits);
}

RegionNest regionNest(const ir::Program& program, const CacheRequest& request, const Region& region,
                      const std::vector<ir::Interval>& limits) {
  const std::vector<const ir::Node*> around = scopesAround(program, request.place);
  RegionNest out;
  for (std::size_t d = 0; d < limits.size(); ++d) {
    const ir::BoxDim& side = region.box[d];
    const auto [lo, hi] = limits[d];
    Affine index = side.start;
    if (region.walked[d]) {
      const Affine var = Affine::variable(static_cast<int>(around.size() + out.extents.size()));
      index += var;
      out.inner.push_back(var);
      out.extents.push_back(side.size);
    }
    const bool inside = alwaysWithin(program, around, {}, side.start, lo, hi - side.size + 1);
    if (!inside) out.guard.push_back({index, lo, hi});
    out.outer.push_back(std::move(index));
  }
  return out;
}

std::vector<Affine> indicesInBox(const ir::Access& access, const Region& region) {
  std::vector<Affine> out;
  for (std::size_t d = 0; d < region.box.size(); ++d) {
    if (region.walked[d]) out.push_back(access.indices[d].affine - region.box[d].start);
  }
  return out;
}

Result<Region> regionOf(const ir::Program& program, const CacheRequest& request,
                        const std::vector<const Site*>& sites) {
  const ir::Buffer& buffer = program.buffer(request.buffer);
  std::optional<std::vector<ir::BoxDim>> box =
      ir::boundingBox(program, sites, static_cast<int>(request.place.size()));
  if (!box) {
    return refuse("move.region",
                  "the elements of '" + buffer.name + "' that one iteration touches are no box",
                  request.place);
  }
  Region out;
  std::int64_t elements = 1;
  std::size_t depth = request.place.size();
  for (std::size_t d = 0; d < box->size(); ++d) {
    const std::int64_t size = (*box)[d].size;
    const std::int64_t fold = buffer.dims[d].fold;
    DOJO_NEEDS(fold == 0 || size <= fold,
               refuse("move.region",
                      "the elements of '" + buffer.name + "' in dim " + std::to_string(d) +
                          " share their storage: materialize_dim first",
                      request.place));
    if (size < 1 || size > ir::kMaxElements / 8 / elements) {
      return refuse("move.size", "the region would be too large", request.place);
    }
    elements *= size;
    const auto same = [&](const Site* site) {
      return site->access.indices[d].affine == (*box)[d].start;
    };
    out.walked.push_back(size > 1 || !std::all_of(sites.begin(), sites.end(), same));
    depth += out.walked.back() ? 1 : 0;
  }
  if (depth >= ir::kMaxDepth) {
    return refuse("move.size", "scopes would nest too deep", request.place);
  }
  out.box = std::move(*box);
  return out;
}

bool initialised(const ir::Accesses& accesses, const CacheRequest& request, int position,
                 const Region& region, const std::vector<const Site*>& first) {
  const ir::Program& program = accesses.program();
  const ir::Role role = program.buffer(request.buffer).role;
  if (role == ir::Role::in || role == ir::Role::inout) return true;
  if (touchesAll(program, first, region.box, static_cast<int>(request.place.size()))) return true;
  // What was written may have given way to another element in the same storage since.
  const std::vector<ir::Dim>& dims = program.buffer(request.buffer).dims;
  if (std::any_of(dims.begin(), dims.end(),
                  [](const ir::Dim& dim) { return dim.fold != 0 && dim.extent > dim.fold; })) {
    return false;
  }
  return regionDefinition(accesses, request, position, region, 0).has_value();
}

std::optional<Definition> regionDefinition(const ir::Accesses& accesses,
                                           const CacheRequest& request, int position,
                                           const Region& region, int leastFixed) {
  const ir::Program& program = accesses.program();
  // A read of the box at that place, which the program doesn't have (yet).
  const RegionNest copy = regionNest(program, request, region);
  std::vector<ir::Node> scopes(copy.extents.size());
  Site read;
  read.enclosing = scopesAround(program, request.place);
  read.path = request.place;
  read.path.push_back(position);
  for (std::size_t i = 0; i < scopes.size(); ++i) {
    ir::Scope scope;
    scope.extent = copy.extents[i];
    scopes[i] = std::move(scope);
    read.enclosing.push_back(&scopes[i]);
    read.path.push_back(0);
  }
  ir::Node leaf;
  leaf.guard = copy.guard;
  read.node = &leaf;
  read.access = element(request.buffer, copy.outer);
  return definitionOf(accesses, read, leastFixed, kEveryDim);
}

Result<CachePlan> planCacheRead(const ir::Accesses& accesses, const CacheRequest& request) {
  const auto sites = sitesBelow(accesses, request);
  if (!sites) return sites.error();
  if (sites->empty()) {
    return refuse("move.region", "nothing here reads the buffer", request.place);
  }
  for (const Site* site : *sites) {
    DOJO_NEEDS(site->touch == ir::Touch::read,
               refuse("move.dependence", "the buffer is written in this body: use cache_write",
                      site->path));
  }
  auto region = regionOf(accesses.program(), request, *sites);
  if (!region) return region.error();
  DOJO_NEEDS(initialised(accesses, request, 0, *region, *sites), neverWritten(accesses, request));
  return CachePlan{std::move(*region), true, false};
}

Result<CachePlan> planCacheWrite(const ir::Accesses& accesses, const CacheRequest& request) {
  const ir::Program& program = accesses.program();
  const int fixed = static_cast<int>(request.place.size());
  const auto sites = sitesBelow(accesses, request);
  if (!sites) return sites.error();
  std::vector<const Site*> writes;
  std::vector<const Site*> reads;
  bool setsAny = false;
  for (const Site* site : *sites) {
    (site->touch == ir::Touch::write ? writes : reads).push_back(site);
    setsAny = setsAny || (site->touch == ir::Touch::write && !site->reduction);
  }
  if (writes.empty()) {
    return refuse("move.region", "nothing here writes the buffer", request.place);
  }
  auto region = regionOf(program, request, *sites);
  if (!region) return region.error();
  const bool selfContained = touchesAll(program, writes, region->box, fixed) &&
                             std::all_of(reads.begin(), reads.end(), [&](const Site* read) {
                               return definitionOf(accesses, *read, fixed).has_value();
                             });
  // Where the body only updates and reads, the first touch of an element is a read.
  const std::vector<const Site*> first = setsAny ? std::vector<const Site*>{} : reads;
  DOJO_NEEDS(selfContained || initialised(accesses, request, 0, *region, first),
             neverWritten(accesses, request));
  return CachePlan{std::move(*region), !selfContained, true};
}

ir::Program applyCache(const ir::Program& program, const CacheRequest& request,
                       const CachePlan& plan) {
  const RegionNest copy = regionNest(program, request, plan.region);
  ir::Program out = program;
  const ir::BufferId cache = addTmp(out, request.name, program.buffer(request.buffer).dtype,
                                    copy.extents, request.location);
  std::vector<ir::Node>& body = bodyOf(out, request.place);
  for (ir::Node& node : body) {
    ir::forEachAccessMutable(node, [&](ir::Access& access) {
      if (access.buffer != request.buffer) return;
      access = element(cache, indicesInBox(access, plan.region));
    });
  }
  const ir::Access inside = element(cache, copy.inner);
  const ir::Access outside = element(request.buffer, copy.outer);
  const auto copyNode = [&](const ir::Access& to, const ir::Access& from) {
    ir::Leaf leaf;
    leaf.dst = to;
    leaf.operands = {from};
    ir::Node node = std::move(leaf);
    node.guard = copy.guard;
    return nest(copy.extents, std::move(node));
  };
  if (plan.copyIn) body.insert(body.begin(), copyNode(inside, outside));
  if (plan.copyOut) body.push_back(copyNode(outside, inside));
  return out;
}

Result<CacheRequest> cacheRequest(const State& state, const std::vector<Arg>& args) {
  CacheRequest out;
  out.place = placeArg(args, 0);
  out.buffer = bufferArg(state, args, 1);
  out.location = textArg(args, 2);
  if (!out.place.empty() && !ir::find(state.program(), out.place)->isScope()) {
    return refuse("move.shape", "a leaf has no body: a scope or @ was expected", out.place);
  }
  if (Status status = offered(state.target(), out.location); !status) return status.error();
  Result<std::string> name = newName(state.program(), args, 3);
  if (!name) return name.error();
  out.name = std::move(*name);
  return out;
}

void cacheChoices(const State& state, const ir::Visit& place, ir::Touch wanted,
                  std::vector<std::vector<Arg>>& out) {
  const auto add = [&](const ir::Path& path) {
    std::vector<bool> touched(state.program().buffers.size());
    for (const Site* site : state.accesses().below(path)) {
      if (site->path != path && site->touch == wanted) touched[at(site->access.buffer)] = true;
    }
    for (std::size_t id = 0; id < touched.size(); ++id) {
      if (!touched[id]) continue;
      for (const std::string& location : state.target().locations) {
        out.push_back({path, state.program().buffers[id].name, location});
      }
    }
  };
  // The whole program belongs to its first node.
  if (place.path == ir::Path{0}) add({});
  if (place.node->isScope()) add(place.path);
}

}  // namespace dojo::moves
