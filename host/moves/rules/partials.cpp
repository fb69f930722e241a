// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/rules/partials.h"

#include <algorithm>
#include <limits>

#include "moves/clause.h"
#include "moves/coverage.h"
#include "moves/rules/edits.h"
#include "moves/rules/flow.h"

namespace dojo::moves {

namespace {

using ir::Affine;
using ir::Assign;
using ir::DType;
using ir::Site;

bool within(const ir::Path& path, const ir::Path& place) {
  return path.size() >= place.size() && std::equal(place.begin(), place.end(), path.begin());
}

/// Where init and combine nests stand: directly in the body around Q.
CacheRequest around(const PartialRequest& request) {
  CacheRequest out;
  out.place = parent(request.around);
  out.buffer = request.accumulator;
  return out;
}

std::int64_t lowest(DType type) {
  switch (type) {
    case DType::i64:
      return std::numeric_limits<std::int64_t>::min();
    case DType::i32:
      return std::numeric_limits<std::int32_t>::min();
    case DType::i16:
      return std::numeric_limits<std::int16_t>::min();
    case DType::i8:
      return std::numeric_limits<std::int8_t>::min();
    default:
      return 0;
  }
}

std::int64_t highest(DType type) {
  switch (type) {
    case DType::u8:
      return 255;
    case DType::boolean:
      return 1;
    default:
      return ~lowest(type);
  }
}

/// P, and what stands for it in the further siblings.
std::vector<ir::Path> scopesOf(const PartialRequest& request) {
  std::vector<ir::Path> out;
  for (int i = 0; i < request.count; ++i) {
    out.push_back(request.scope);
    out.back()[request.around.size() - 1] += i;
  }
  return out;
}

bool usesVariable(const ir::Access& access, int var) {
  return std::any_of(access.indices.begin(), access.indices.end(),
                     [&](const ir::Index& index) { return index.affine.uses(var); });
}

}  // namespace

Assign operatorOf(Assign assign) { return assign == Assign::fma ? Assign::add : assign; }

ir::Constant identityOf(Assign assign, DType type) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool floating = ir::isFloat(type);
  switch (assign) {
    case Assign::mul:
      return floating ? ir::Constant(1.0) : ir::Constant(std::int64_t{1});
    case Assign::max:
      return floating ? ir::Constant(-kInfinity) : ir::Constant(lowest(type));
    case Assign::min:
      return floating ? ir::Constant(kInfinity) : ir::Constant(highest(type));
    default:
      return floating ? ir::Constant(0.0) : ir::Constant(std::int64_t{0});
  }
}

std::string_view nameOf(Assign assign) {
  switch (assign) {
    case Assign::mul:
      return "mul";
    case Assign::max:
      return "max";
    case Assign::min:
      return "min";
    case Assign::fma:
      return "fma";
    default:
      return "add";
  }
}

Status readsNot(const State& state, const ir::Path& place, const ir::Leaf& leaf) {
  const Site* write = nullptr;
  std::vector<const Site*> reads;
  for (const Site* site : state.accesses().below(place)) {
    if (site->access.buffer != leaf.dst.buffer) continue;
    if (site->touch == ir::Touch::write) {
      write = site;
    } else if (!site->reduction) {
      reads.push_back(site);
    }
  }
  const std::vector<ir::Relation> same = ir::equalThen(depthOf(place), {});
  for (const Site* read : reads) {
    DOJO_NEEDS(
        ir::meet(state.accesses(), *read, *write, same) == ir::Answer::no,
        refuse("move.dependence", "the right side reads the element that the leaf writes", place));
  }
  return {};
}

std::vector<ir::BufferId> accumulatorsOf(const State& state, const ir::Path& scope) {
  std::vector<ir::BufferId> out;
  for (const Site* site : state.accesses().below(scope)) {
    if (site->touch != ir::Touch::write || !site->reduction) continue;
    if (usesVariable(site->access, depthOf(scope))) continue;
    if (std::find(out.begin(), out.end(), site->access.buffer) == out.end()) {
      out.push_back(site->access.buffer);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

Result<PartialPlan> planPartials(const ir::Accesses& accesses, const PartialRequest& request) {
  const ir::Program& program = accesses.program();
  const std::string& name = program.buffer(request.accumulator).name;
  std::vector<const Site*> updates;
  std::vector<const Site*> reads;
  PartialPlan plan;
  std::optional<Assign> assign;
  const std::vector<ir::Path> scopes = scopesOf(request);
  std::vector<bool> reduces(scopes.size());
  const Block run{parent(request.around), request.around.back(),
                  request.around.back() + request.count};
  for (const Site* site : accesses.of(request.accumulator)) {
    if (!run.contains(site->path)) continue;
    if (!site->reduction) {
      return refuse("move.dependence",
                    "'" + name + "' is more than reduced into here, where its value is partial",
                    site->path);
    }
    const Assign here = operatorOf(site->node->leaf().assign);
    DOJO_NEEDS(!assign || *assign == here,
               refuse("move.dependence", "'" + name + "' is reduced into by another operator here",
                      site->path));
    assign = here;
    const auto i = static_cast<std::size_t>(site->path[request.around.size() - 1] - run.first);
    if (!within(site->path, scopes[i])) continue;
    reduces[i] = true;
    if (usesVariable(site->access, depthOf(request.scope))) {
      return refuse("move.shape", "'" + name + "' is indexed by the scope's variable already",
                    site->path);
    }
    updates.push_back(site);
    if (site->touch == ir::Touch::read) reads.push_back(site);
  }
  const std::int64_t extent = ir::find(program, request.scope)->scope().extent.count;
  for (std::size_t i = 0; i < scopes.size(); ++i) {
    if (!reduces[i]) {
      return refuse("move.shape", "the scope has no reduction into '" + name + "'", scopes[i]);
    }
    const ir::Node& node = *ir::find(program, scopes[i]);
    const bool fits =
        node.isScope() && node.scope().extent.isConstant() && node.scope().extent.count <= extent;
    if (!fits) {
      return refuse("move.extent", "no scope of at most as many iterations stands here", scopes[i]);
    }
  }
  plan.assign = *assign;
  Result<Region> region = regionOf(program, around(request), updates);
  if (!region) return region.error();
  plan.region = std::move(*region);
  std::int64_t elements = extent;
  if (elements < 1) return refuse("move.extent", "the scope never runs", request.scope);
  for (const ir::BoxDim& side : plan.region.box) {
    if (elements > ir::kMaxElements / 8 / side.size) {
      return refuse("move.size", "the partial accumulators would be too large", request.around);
    }
    elements *= side.size;
  }
  DOJO_NEEDS(initialised(accesses, around(request), request.around.back(), plan.region, reads),
             refuse("move.unwritten",
                    "combining would read elements of '" + name + "' that may have no value yet",
                    request.around));
  return plan;
}

ir::Program applyPartials(const ir::Program& program, const PartialRequest& request,
                          const PartialPlan& plan) {
  const RegionNest walk = regionNest(program, around(request), plan.region);
  const std::int64_t extent = ir::find(program, request.scope)->scope().extent.count;
  const DType type = program.buffer(request.accumulator).dtype;
  std::vector<std::int64_t> dims = walk.extents;
  dims.push_back(extent);
  ir::Program out = program;
  const ir::BufferId partial = addTmp(out, request.name, type, dims, request.location);

  for (const ir::Path& scope : scopesOf(request)) {
    ir::forEachAccessMutable(*ir::find(out, scope), [&](ir::Access& access) {
      if (access.buffer != request.accumulator) return;
      std::vector<Affine> indices = indicesInBox(access, plan.region);
      indices.push_back(Affine::variable(depthOf(request.scope)));
      access = element(partial, indices);
    });
  }

  std::vector<Affine> all = walk.inner;
  all.push_back(Affine::variable(depthOf(request.around) + static_cast<int>(all.size())));
  ir::Leaf init;
  init.dst = element(partial, all);
  init.operands = {identityOf(plan.assign, type)};
  ir::Leaf combine;
  combine.dst = element(request.accumulator, walk.outer);
  combine.assign = plan.assign;
  combine.operands = {element(partial, all)};
  ir::Node combineNode = std::move(combine);
  combineNode.guard = walk.guard;
  insert(out, sibling(request.around, request.count), nest(dims, std::move(combineNode)));
  insert(out, request.around, nest(dims, std::move(init)));
  return out;
}

}  // namespace dojo::moves
