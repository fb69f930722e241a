// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/rules/padding.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "ir/canonical.h"
#include "moves/clause.h"
#include "moves/rules/edits.h"
#include "moves/rules/flow.h"
#include "moves/rules/guards.h"
#include "moves/rules/partials.h"

namespace dojo::moves {

namespace {

using ir::Affine;
using ir::Site;

/// A site as it would be without the terms that its leaf loses.
struct Bare {
  const Site* site;
  ir::Node node;
  std::vector<ir::GuardTerm> lost;
};

Site without(const Bare& bare, const Site& site) {
  Site out = site;
  out.node = &bare.node;
  return out;
}

const ir::GuardTerm* termOn(const ir::Guard& guard, const Affine& index) {
  if (index.isConstant()) return nullptr;
  const std::optional<std::int64_t> i = findTerm(guard, index);
  return i ? &guard[static_cast<std::size_t>(*i)] : nullptr;
}

bool alwaysInside(const ir::Program& program, const Site& site, const Affine& index,
                  const ir::Interval& inside) {
  return alwaysWithin(program, site.enclosing, site.node->guard, index, inside.lo, inside.hi);
}

/// True where the operand is certainly neither infinite nor NaN, whatever the guards say.
bool isFinite(const ir::Program& program, const ir::Operand& operand) {
  if (const auto* constant = std::get_if<ir::Constant>(&operand)) {
    const auto* value = std::get_if<double>(constant);
    return value == nullptr || std::isfinite(*value);
  }
  const auto* access = std::get_if<ir::Access>(&operand);
  if (access == nullptr) return true;
  // What is written as well may be anything by then.
  const ir::Buffer& buffer = program.buffer(access->buffer);
  return !ir::isFloat(buffer.dtype) || (buffer.finite && buffer.role == ir::Role::in);
}

/// The value of an element of `buffer` that makes the leaf's update none.
Result<ir::Constant> identityFor(const ir::Program& program, const Site& site,
                                 ir::BufferId buffer) {
  const ir::Leaf& leaf = site.node->leaf();
  const auto reads = [&](const ir::Operand& operand) {
    const auto* access = std::get_if<ir::Access>(&operand);
    return access != nullptr && access->buffer == buffer;
  };
  const std::string& name = program.buffer(buffer).name;
  DOJO_NEEDS(leaf.isReduction(),
             refuse("move.shape",
                    "guarded off, this leaf keeps an old value: no value read makes "
                    "it do so",
                    site.path));
  const ir::DType from = program.buffer(buffer).dtype;
  const ir::DType to = program.buffer(leaf.dst.buffer).dtype;
  const ir::Assign assign = operatorOf(leaf.assign);
  if (leaf.op == ir::Op::mul) {
    if (std::count_if(leaf.operands.begin(), leaf.operands.end(), reads) != 1) {
      return refuse("move.shape", "both factors read '" + name + "'", site.path);
    }
    DOJO_NEEDS(assign == ir::Assign::add,
               refuse("move.shape", "no factor makes this product the identity of its reduction",
                      site.path));
    const bool finite = std::all_of(
        leaf.operands.begin(), leaf.operands.end(),
        [&](const ir::Operand& operand) { return reads(operand) || isFinite(program, operand); });
    DOJO_NEEDS(finite || !ir::isFloat(to),
               refuse("move.infinite",
                      "0 times the other factor is NaN where that is infinite or NaN, and nothing "
                      "promises that it isn't (declare its buffer finite)",
                      site.path));
  } else if (leaf.op != ir::Op::copy) {
    return refuse("move.shape", "what is reduced is neither an element nor a product", site.path);
  }
  const bool extreme = assign == ir::Assign::max || assign == ir::Assign::min;
  DOJO_NEEDS(!extreme || ir::isFloat(from) == ir::isFloat(to),
             refuse("move.dtype", "the identity isn't a value of '" + name + "'", site.path));
  DOJO_NEEDS(
      !extreme || ir::isFloat(to) || from == to,
      refuse("move.dtype", "the identity is beyond the values of '" + name + "'", site.path));
  return identityOf(assign, from);
}

/// Without the terms the leaf runs more often: then, too, it touches elements that exist and have
/// values.
Status runsMore(const ir::Accesses& accesses, const Bare& bare, ir::BufferId buffer) {
  const ir::Program& program = accesses.program();
  for (const Site* site : accesses.below(bare.site->path)) {
    const ir::Access& access = site->access;
    if (access.buffer == buffer) continue;
    const Site read = without(bare, *site);
    const ir::Buffer& touched = program.buffer(access.buffer);
    for (std::size_t d = 0; d < access.indices.size(); ++d) {
      const ir::Index& index = access.indices[d];
      DOJO_NEEDS(index.isGather() ||
                     alwaysInside(program, read, index.affine, {0, touched.dims[d].extent}),
                 refuse("move.guard", "the guard also keeps the leaf within '" + touched.name + "'",
                        site->path));
    }
    if (site->touch != ir::Touch::read) continue;
    const bool given = touched.role == ir::Role::in || touched.role == ir::Role::inout;
    DOJO_NEEDS(given || definitionOf(accesses, read, 0, kEveryDim).has_value(),
               refuse("move.unwritten",
                      "without the guard '" + touched.name + "' may be read where it has no value",
                      site->path));
    const bool kept = touched.shares < 0 &&
                      std::all_of(touched.dims.begin(), touched.dims.end(),
                                  [](const ir::Dim& dim) { return dim.stored() >= dim.extent; });
    DOJO_NEEDS(given || kept, refuse("move.unwritten",
                                     "without the guard '" + touched.name +
                                         "' may be read where another value has taken its storage",
                                     site->path));
  }
  return {};
}

/// A dim that is read in steps gets whole ones, so that it may be split by them.
void wholeSteps(Region& region, const std::vector<const Site*>& reads, int fixed) {
  for (std::size_t d = 0; d < region.box.size(); ++d) {
    std::int64_t step = 0;
    for (const Site* read : reads) {
      for (const ir::Term& term : read->access.indices[d].affine.terms()) {
        const std::int64_t size = std::abs(term.coef);
        if (term.var >= fixed && size > 1 && (step == 0 || size < step)) step = size;
      }
    }
    std::int64_t& size = region.box[d].size;
    if (region.walked[d] && step > 1 && step < size) size = (size + step - 1) / step * step;
  }
}

/// One element of the copy, made by `leaf`.
ir::Node setCell(const ir::Access& cell, ir::Operand value, ir::Guard guard) {
  ir::Leaf leaf;
  leaf.dst = cell;
  leaf.operands = {std::move(value)};
  ir::Node node = std::move(leaf);
  node.guard = std::move(guard);
  return node;
}

}  // namespace

bool guardsRead(const ir::Node& node, ir::BufferId buffer) {
  if (!node.isLeaf() || node.guard.empty()) return false;
  const std::vector<ir::Operand>& operands = node.leaf().operands;
  return std::any_of(operands.begin(), operands.end(), [&](const ir::Operand& operand) {
    const auto* access = std::get_if<ir::Access>(&operand);
    return access != nullptr && access->buffer == buffer &&
           std::any_of(access->indices.begin(), access->indices.end(),
                       [&](const ir::Index& index) { return termOn(node.guard, index.affine); });
  });
}

Result<PaddingPlan> planPadding(const ir::Accesses& accesses, const CacheRequest& request) {
  const ir::Program& program = accesses.program();
  const ir::Buffer& buffer = program.buffer(request.buffer);
  const auto sites = sitesBelow(accesses, request);
  if (!sites) return sites.error();
  PaddingPlan plan;
  for (const ir::Dim& dim : buffer.dims) plan.inside.push_back({0, dim.extent});
  std::vector<bool> guarded(plan.inside.size());
  std::vector<Bare> bares;
  for (const Site* site : *sites) {
    DOJO_NEEDS(site->touch == ir::Touch::read,
               refuse("move.dependence", "the buffer is written in this body", site->path));
    Bare bare{site, *site->node, {}};
    for (std::size_t d = 0; d < plan.inside.size(); ++d) {
      const ir::GuardTerm* term = termOn(site->node->guard, site->access.indices[d].affine);
      if (term == nullptr) continue;
      const ir::Interval inside{term->lo, term->hi};
      DOJO_NEEDS(!guarded[d] || plan.inside[d] == inside,
                 refuse("move.guard",
                        "another guard keeps dim " + std::to_string(d) + " of '" + buffer.name +
                            "' within other indices",
                        site->path));
      if (inside.lo < 0 || inside.hi > buffer.dims[d].extent) {
        return refuse("move.guard", "the guard is wider than '" + buffer.name + "'", site->path);
      }
      guarded[d] = true;
      plan.inside[d] = inside;
      std::erase(bare.node.guard, *term);
      bare.lost.push_back(*term);
    }
    bares.push_back(std::move(bare));
  }
  const auto loses = [](const Bare& bare) { return !bare.lost.empty(); };
  if (std::none_of(bares.begin(), bares.end(), loses)) {
    return refuse("move.guard", "no guard here keeps a read of '" + buffer.name + "' inside",
                  request.place);
  }
  // A term that the others imply stays: the way back adds only what is needed.
  for (Bare& bare : bares) {
    const ir::Node free = bare.node;
    std::vector<ir::GuardTerm> lost;
    Site alone = *bare.site;
    alone.node = &free;
    for (const ir::GuardTerm& term : bare.lost) {
      const bool stays = alwaysInside(program, alone, term.expr, {term.lo, term.hi});
      if (stays) {
        bare.node.guard.push_back(term);
      } else {
        lost.push_back(term);
      }
    }
    bare.lost = std::move(lost);
  }
  std::optional<ir::Constant> identity;
  for (const Bare& bare : bares) {
    if (!loses(bare)) continue;
    const Result<ir::Constant> own = identityFor(program, *bare.site, request.buffer);
    if (!own) return own.error();
    DOJO_NEEDS(
        !identity || *identity == *own,
        refuse("move.shape", "another reduction of '" + buffer.name + "' has another identity",
               bare.site->path));
    identity = *own;
    if (Status more = runsMore(accesses, bare, request.buffer); !more) return more.error();
    plan.leaves.push_back({bare.site->path, bare.lost});
  }
  if (!identity) {
    return refuse("move.guard", "the guards hold anyway: drop_guard", request.place);
  }
  plan.identity = *identity;
  std::vector<Site> free;
  free.reserve(bares.size());
  std::vector<const Site*> reads;
  for (const Bare& bare : bares) {
    free.push_back(without(bare, *bare.site));
    reads.push_back(&free.back());
  }
  auto region = regionOf(program, request, reads);
  if (!region) return region.error();
  plan.region = std::move(*region);
  wholeSteps(plan.region, reads, static_cast<int>(request.place.size()));
  const RegionNest copy = regionNest(program, request, plan.region, plan.inside);
  for (std::size_t i = 0; i < bares.size(); ++i) {
    for (std::size_t d = 0; d < plan.inside.size(); ++d) {
      const Affine& index = free[i].access.indices[d].affine;
      if (!findTerm(copy.guard, copy.outer[d]) || termOn(bares[i].lost, index)) continue;
      DOJO_NEEDS(alwaysInside(program, free[i], index, plan.inside[d]),
                 refuse("move.guard", "what this reads may be padding", free[i].path));
    }
  }
  DOJO_NEEDS(initialised(accesses, request, 0, plan.region, *sites),
             refuse("move.unwritten",
                    "copying the region would read elements of '" + buffer.name +
                        "' that may have no value yet",
                    request.place));
  return plan;
}

ir::Program applyPadding(const ir::Program& program, const CacheRequest& request,
                         const PaddingPlan& plan) {
  const RegionNest copy = regionNest(program, request, plan.region, plan.inside);
  ir::Program out = program;
  for (const PaddingPlan::Leaf& leaf : plan.leaves) {
    ir::Guard& guard = ir::find(out, leaf.path)->guard;
    for (const ir::GuardTerm& term : leaf.terms) std::erase(guard, term);
  }
  const ir::BufferId cache = addTmp(out, request.name, program.buffer(request.buffer).dtype,
                                    copy.extents, request.location);
  std::vector<ir::Node>& body = bodyOf(out, request.place);
  for (ir::Node& node : body) {
    ir::forEachAccessMutable(node, [&](ir::Access& access) {
      if (access.buffer != request.buffer) return;
      access = element(cache, indicesInBox(access, plan.region));
    });
  }
  const ir::Access cell = element(cache, copy.inner);
  ir::Node copied = setCell(cell, element(request.buffer, copy.outer), copy.guard);
  ir::Node padded = setCell(cell, plan.identity, {});
  if (copy.extents.empty()) {
    body.insert(body.begin(), std::move(copied));
    body.insert(body.begin(), std::move(padded));
  } else {
    ir::Node nest = moves::nest(copy.extents, std::move(padded));
    ir::Node* inner = &nest;
    while (inner->scope().body.front().isScope()) inner = &inner->scope().body.front();
    inner->scope().body.push_back(std::move(copied));
    body.insert(body.begin(), std::move(nest));
  }
  return out;
}

namespace {

/// The nest of a padded copy: child `position` of the body of `place` (without dims, that child
/// and the next).
struct PaddedNest {
  ir::Path place;
  int position = 0;
  ir::Access source;
  ir::Guard guard;
};

std::optional<PaddedNest> paddedNest(const State& state, ir::BufferId id) {
  const ir::Program& program = state.program();
  const ir::Buffer& copy = program.buffer(id);
  if (copy.isArgument() || copy.shares >= 0) return std::nullopt;
  std::vector<const Site*> writes;
  for (const Site* site : state.accesses().of(id)) {
    if (site->touch == ir::Touch::write) writes.push_back(site);
  }
  if (writes.size() != 2) return std::nullopt;
  const auto sets = [](const ir::Node& node) {
    return node.leaf().assign == ir::Assign::set && node.leaf().op == ir::Op::copy;
  };
  const ir::Node& first = *writes[0]->node;
  const ir::Node& second = *writes[1]->node;
  const auto rank = static_cast<std::size_t>(copy.rank());
  const ir::Path& path = writes[0]->path;
  if (path.size() < rank + 1 || writes[1]->path != sibling(path, 1)) return std::nullopt;
  if (!sets(first) || !first.guard.empty() || !sets(second)) return std::nullopt;
  if (!(writes[0]->access == writes[1]->access)) return std::nullopt;
  if (!std::holds_alternative<ir::Constant>(first.leaf().operands[0])) return std::nullopt;
  const auto* source = std::get_if<ir::Access>(&second.leaf().operands[0]);
  if (source == nullptr || source->buffer == id) return std::nullopt;
  PaddedNest out;
  out.place.assign(path.begin(), path.end() - static_cast<std::ptrdiff_t>(rank + 1));
  out.position = path[out.place.size()];
  out.source = *source;
  out.guard = second.guard;
  for (std::size_t i = 0; i < rank; ++i) {
    const auto var = static_cast<int>(out.place.size() + i);
    if (!(writes[0]->access.indices[i] == ir::Index(Affine::variable(var)))) return std::nullopt;
  }
  for (const ir::Index& index : source->indices) {
    if (index.isGather()) return std::nullopt;
  }
  return out;
}

}  // namespace

std::optional<Unpadded> unpad(const State& state, ir::BufferId id) {
  const std::optional<PaddedNest> found = paddedNest(state, id);
  if (!found) return std::nullopt;
  const ir::Program& program = state.program();
  const ir::Buffer& copy = program.buffer(id);
  if (!state.target().offersLocation(copy.location)) return std::nullopt;
  Unpadded out{program, {}};
  const int depth = static_cast<int>(found->place.size());
  for (const Site* site : state.accesses().of(id)) {
    const bool within = site->path.size() > found->place.size() &&
                        std::equal(found->place.begin(), found->place.end(), site->path.begin());
    if (!within || !site->node->isLeaf()) return std::nullopt;
    if (site->touch != ir::Touch::read) continue;
    std::vector<Affine> values;
    for (const ir::Index& index : site->access.indices) {
      if (index.isGather()) return std::nullopt;
      values.push_back(index.affine);
    }
    std::vector<Affine> indices;
    for (const ir::Index& index : found->source.indices) {
      indices.push_back(substituteAll(index.affine, depth, values));
    }
    ir::Node& leaf = *ir::find(out.program, site->path);
    for (const ir::GuardTerm& term : found->guard) {
      const Affine index = substituteAll(term.expr, depth, values);
      if (alwaysInside(program, *site, index, {term.lo, term.hi})) continue;
      leaf.guard.push_back({index, term.lo, term.hi});
    }
    const ir::Access reads = site->access;
    ir::forEachAccessMutable(leaf, [&](ir::Access& access) {
      if (access == reads) access = element(found->source.buffer, indices);
    });
  }
  std::vector<ir::Node>& body = bodyOf(out.program, found->place);
  const int nodes = copy.rank() == 0 ? 2 : 1;
  body.erase(body.begin() + found->position, body.begin() + found->position + nodes);
  if (body.empty()) return std::nullopt;

  // The way back proves the way here: what pad_cache makes of the result is this program.
  ir::canonicalize(out.program);
  const std::string& source = program.buffer(found->source.buffer).name;
  const std::optional<ir::BufferId> sourceId = out.program.find(source);
  if (!sourceId) return std::nullopt;
  const CacheRequest request{found->place, *sourceId, copy.location, copy.name};
  const Result<PaddingPlan> plan = planPadding(ir::Accesses(out.program), request);
  if (!plan) return std::nullopt;
  ir::Program again = applyPadding(out.program, request, *plan);
  std::vector<ir::Node>& padded = bodyOf(again, found->place);
  std::rotate(padded.begin(), padded.begin() + nodes, padded.begin() + found->position + nodes);
  ir::canonicalize(again);
  DOJO_NEEDS(again == program, std::nullopt);
  std::vector<Arg> args = {found->place, source, copy.location};
  if (copy.name != out.program.freshName()) args.emplace_back(copy.name);
  out.back.push_back(makeMove("pad_cache", std::move(args)));
  // One past the other, the last first.
  for (int k = nodes - 1; k >= 0; --k) {
    for (int i = 0; i < found->position; ++i) {
      out.back.push_back(makeMove("swap_siblings", {child(found->place, k + i)}));
    }
  }
  return out;
}

}  // namespace dojo::moves
