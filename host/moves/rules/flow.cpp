// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/rules/flow.h"

#include <algorithm>
#include <cstdlib>

#include "moves/clause.h"

namespace dojo::moves {

namespace {

using ir::Affine;
using ir::Answer;
using ir::Interval;
using ir::Site;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// The variables of one execution of a node in a System, by depth.
struct Instance {
  ir::System* system;
  std::vector<int> vars;

  std::vector<ir::System::Coef> coefs(const Affine& expr, std::int64_t sign = 1) const {
    std::vector<ir::System::Coef> out;
    for (const ir::Term& term : expr.terms()) out.push_back({vars[at(term.var)], sign * term.coef});
    return out;
  }
  void constrain(const ir::Guard& guard) const {
    for (const ir::GuardTerm& term : guard) {
      system->constrain(coefs(term.expr), term.lo - term.expr.constant(),
                        term.hi - 1 - term.expr.constant());
    }
  }
};

/// Adds an execution inside `enclosing`; the variables at depths below `shared` are those of
/// `other`.
Instance addInstance(ir::System& system, const ir::Program& program,
                     const std::vector<const ir::Node*>& enclosing, const ir::Guard& guard,
                     const Instance* other = nullptr, int shared = 0) {
  Instance out{&system, {}};
  for (std::size_t depth = 0; depth < enclosing.size(); ++depth) {
    if (other != nullptr && depth < at(shared)) {
      out.vars.push_back(other->vars[depth]);
      continue;
    }
    out.constrain(enclosing[depth]->guard);
    const Interval range = ir::variableRange(program, enclosing[depth]->scope());
    out.vars.push_back(system.variable(range.lo, range.hi - 1));
  }
  out.constrain(guard);
  return out;
}

std::vector<Interval> rangesOf(const ir::Program& program,
                               const std::vector<const ir::Node*>& enclosing) {
  std::vector<Interval> out;
  for (const ir::Node* node : enclosing) out.push_back(variableRange(program, node->scope()));
  return out;
}

/// Solves E_write(x) = target for the write's own variables (depths >= fixed) as affine
/// expressions, digit by digit from the largest coefficient; the caller verifies.
void assignDigits(const Affine& write, Affine target, int fixed,
                  std::vector<std::optional<Affine>>& values) {
  std::vector<ir::Term> own;
  target -= write.constant();
  for (const ir::Term& term : write.terms()) {
    if (term.var < fixed) {
      target -= Affine::variable(term.var, term.coef);
    } else if (values[at(term.var)]) {
      target -= *values[at(term.var)] * term.coef;
    } else {
      own.push_back(term);
    }
  }
  std::stable_sort(own.begin(), own.end(), [](const ir::Term& a, const ir::Term& b) {
    return std::abs(a.coef) > std::abs(b.coef);
  });
  for (const ir::Term& term : own) {
    const std::int64_t constant = target.constant();
    std::int64_t quotient = constant / term.coef;
    if (constant % term.coef != 0 && ((constant < 0) != (term.coef < 0))) --quotient;
    Affine digit = quotient;
    for (const ir::Term& part : target.terms()) {
      if (part.coef % term.coef == 0) digit += Affine::variable(part.var, part.coef / term.coef);
    }
    target -= digit * term.coef;
    values[at(term.var)] = std::move(digit);
  }
}

/// Rewrites an expression in the write's variables into one in the read's.
Affine inReader(const Affine& expr, int fixed, const std::vector<std::optional<Affine>>& values) {
  Affine out = expr.constant();
  for (const ir::Term& term : expr.terms()) {
    out += term.var < fixed ? Affine::variable(term.var, term.coef)
                            : *values[at(term.var)] * term.coef;
  }
  return out;
}

bool ignored(const ir::Buffer& buffer, int dim, int exactDim) {
  return dim != exactDim && exactDim != kEveryDim && buffer.dims[at(dim)].fold == 1;
}

/// For each execution of `read` there is one of `write` in the same iteration of the first `fixed`
/// scopes that touches the same element: the values of its further variables, in the read's.
std::optional<std::vector<Affine>> matching(const ir::Program& program, const Site& write,
                                            const Site& read, int fixed, int exactDim) {
  const ir::Buffer& buffer = program.buffer(read.access.buffer);
  std::vector<std::optional<Affine>> values(write.enclosing.size());
  for (int d = 0; d < buffer.rank(); ++d) {
    if (ignored(buffer, d, exactDim)) continue;
    const ir::Index& from = write.access.indices[at(d)];
    const ir::Index& to = read.access.indices[at(d)];
    if (from.isGather() || to.isGather()) return std::nullopt;
    assignDigits(from.affine, to.affine, fixed, values);
  }
  for (std::size_t depth = at(fixed); depth < values.size(); ++depth) {
    if (!values[depth]) values[depth] = Affine(0);
  }
  for (int d = 0; d < buffer.rank(); ++d) {
    if (ignored(buffer, d, exactDim)) continue;
    if (!DOJO_CLAUSE(inReader(write.access.indices[at(d)].affine, fixed, values) ==
                     read.access.indices[at(d)].affine)) {
      return std::nullopt;
    }
  }
  const auto holds = [&](const Affine& expr, std::int64_t lo, std::int64_t hi) {
    return alwaysWithin(program, read.enclosing, read.node->guard, expr, lo, hi);
  };
  const auto guardHolds = [&](const ir::Guard& guard) {
    return std::all_of(guard.begin(), guard.end(), [&](const ir::GuardTerm& term) {
      return holds(inReader(term.expr, fixed, values), term.lo, term.hi);
    });
  };
  for (std::size_t depth = at(fixed); depth < write.enclosing.size(); ++depth) {
    const ir::Node& node = *write.enclosing[depth];
    if (!node.scope().extent.isConstant()) return std::nullopt;
    if (!DOJO_CLAUSE(holds(*values[depth], 0, node.scope().extent.count))) return std::nullopt;
    if (!DOJO_CLAUSE(guardHolds(node.guard))) return std::nullopt;
  }
  if (!DOJO_CLAUSE(guardHolds(write.node->guard))) return std::nullopt;
  std::vector<Affine> out;
  for (std::size_t depth = 0; depth < values.size(); ++depth) {
    const bool shared = depth < at(fixed);
    out.push_back(shared ? Affine::variable(static_cast<int>(depth)) : *values[depth]);
  }
  return out;
}

/// The elements that a site touches in each iteration of the first `fixed` scopes.
struct Region {
  std::vector<ir::BoxDim> dims;
  bool solid = true;  ///< Each element of the box is touched, in every iteration.
};

std::optional<Region> regionOf(const ir::Program& program, const Site& site, int fixed) {
  const ir::Buffer& buffer = program.buffer(site.access.buffer);
  const std::vector<Interval> ranges = rangesOf(program, site.enclosing);
  Region out;
  out.solid = runsAlways(program, site, fixed);
  std::vector<int> uses(site.enclosing.size(), 0);
  for (int d = 0; d < buffer.rank(); ++d) {
    const ir::Index& index = site.access.indices[at(d)];
    if (index.isGather()) {
      out.dims.push_back({Affine(0), buffer.dims[at(d)].extent});
      out.solid = false;
      continue;
    }
    Affine start = index.affine.constant();
    std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // |coef|, count
    for (const ir::Term& term : index.affine.terms()) {
      if (term.var < fixed) {
        start += Affine::variable(term.var, term.coef);
        continue;
      }
      const Interval range = ranges[at(term.var)];
      if (range.hi <= range.lo) return std::nullopt;
      start += term.coef * (term.coef > 0 ? range.lo : range.hi - 1);
      steps.emplace_back(std::abs(term.coef), range.hi - range.lo);
      if (range.hi - range.lo > 1 && !DOJO_CLAUSE(uses[at(term.var)]++ == 0)) out.solid = false;
    }
    std::sort(steps.begin(), steps.end());
    std::int64_t size = 1;
    for (const auto& [coef, count] : steps) {
      if (!DOJO_CLAUSE(coef <= size)) out.solid = false;
      size += coef * (count - 1);
    }
    out.dims.push_back({start, size});
  }
  return out;
}

/// A valid program touches nothing outside of the buffer, whatever the box says.
void clip(std::vector<ir::BoxDim>& box, const ir::Buffer& buffer) {
  for (std::size_t d = 0; d < box.size(); ++d) {
    if (!box[d].start.isConstant()) continue;
    const std::int64_t end = std::min(box[d].start.constant() + box[d].size, buffer.dims[d].extent);
    const std::int64_t start = std::max(box[d].start.constant(), std::int64_t{0});
    box[d] = {Affine(start), std::max(end - start, std::int64_t{0})};
  }
}

/// Removes the solid regions from the box; true where nothing is left. `skip(d)`: the dim doesn't
/// count.
template <class Skip>
bool fills(const std::vector<Region>& regions, const std::vector<ir::BoxDim>& box,
           const Skip& skip) {
  struct Block {
    std::vector<Interval> sides;
  };
  constexpr std::size_t kMostBlocks = 64;
  std::vector<Block> left(1);
  std::vector<int> dims;
  for (int d = 0; d < static_cast<int>(box.size()); ++d) {
    if (skip(d)) continue;
    dims.push_back(d);
    left[0].sides.push_back({0, box[at(d)].size});
  }
  for (const Region& region : regions) {
    if (!region.solid) continue;
    std::vector<Interval> hole;
    for (const int d : dims) {
      const Affine offset = region.dims[at(d)].start - box[at(d)].start;
      if (!offset.isConstant()) break;
      hole.push_back({offset.constant(), offset.constant() + region.dims[at(d)].size});
    }
    if (hole.size() != dims.size()) continue;
    std::vector<Block> next;
    for (Block& block : left) {
      bool apart = false;
      for (std::size_t i = 0; i < hole.size(); ++i) {
        apart = apart || hole[i].hi <= block.sides[i].lo || block.sides[i].hi <= hole[i].lo;
      }
      if (apart) {
        next.push_back(block);
        continue;
      }
      for (std::size_t i = 0; i < hole.size(); ++i) {
        Block part = block;
        if (block.sides[i].lo < hole[i].lo) {
          part.sides[i].hi = hole[i].lo;
          next.push_back(part);
          block.sides[i].lo = hole[i].lo;
        }
        part = block;
        if (hole[i].hi < block.sides[i].hi) {
          part.sides[i].lo = hole[i].hi;
          next.push_back(part);
          block.sides[i].hi = hole[i].hi;
        }
      }
    }
    left = std::move(next);
    if (left.size() > kMostBlocks) return false;
  }
  return left.empty();
}

/// May an execution of `write` and one of `read`, in the same iteration of the first `fixed`
/// scopes, fall on one storage element with different indices in `dim`, where dim stores `fold`?
bool mayCollide(const ir::Program& program, const Site& write, const Site& read, int fixed, int dim,
                std::int64_t fold) {
  const ir::Buffer& buffer = program.buffer(read.access.buffer);
  const ir::Index& from = write.access.indices[at(dim)];
  const ir::Index& to = read.access.indices[at(dim)];
  if (!from.isGather() && !to.isGather() && from.affine == to.affine) {
    const auto& terms = from.affine.terms();
    if (terms.empty() || terms.back().var < fixed) return false;
  }
  for (const std::int64_t sign : {-1, 1}) {
    ir::System system;
    const Instance reader = addInstance(system, program, read.enclosing, read.node->guard);
    const Instance writer =
        addInstance(system, program, write.enclosing, write.node->guard, &reader, fixed);
    for (int d = 0; d < buffer.rank(); ++d) {
      const ir::Dim& shape = buffer.dims[at(d)];
      if (d != dim && shape.fold == 1) continue;
      std::vector<ir::System::Coef> terms;
      std::int64_t constant = 0;
      const auto add = [&](const Instance& instance, const ir::Index& index, std::int64_t factor) {
        if (index.isGather()) {
          terms.push_back({system.variable(0, shape.extent - 1), factor});
          return;
        }
        constant += factor * index.affine.constant();
        for (const auto& coef : instance.coefs(index.affine, factor)) terms.push_back(coef);
      };
      add(reader, read.access.indices[at(d)], 1);
      add(writer, write.access.indices[at(d)], -1);
      const std::int64_t modulus = d == dim ? fold : shape.fold;
      if (d == dim && modulus == 1) {
        system.constrain(terms, (sign > 0 ? 1 : -shape.extent) - constant,
                         (sign > 0 ? shape.extent : -1) - constant);
        continue;
      }
      if (modulus > 1) {
        const std::int64_t most = shape.extent / modulus + 1;
        const int times = d != dim   ? system.variable(-most, most)
                          : sign > 0 ? system.variable(1, most)
                                     : system.variable(-most, -1);
        terms.push_back({times, -modulus});
      }
      system.constrain(terms, -constant, -constant);
    }
    if (system.feasible() != Answer::no) return true;
  }
  return false;
}

/// True where `path` begins with the first `length` positions of `prefix`.
bool sharesPrefix(const ir::Path& path, const ir::Path& prefix, std::size_t length) {
  return path.size() >= length &&
         std::equal(prefix.begin(), prefix.begin() + static_cast<std::ptrdiff_t>(length),
                    path.begin());
}

}  // namespace

bool alwaysWithin(const ir::Program& program, const std::vector<const ir::Node*>& enclosing,
                  const ir::Guard& guard, const ir::Affine& expr, std::int64_t lo,
                  std::int64_t hi) {
  const Interval range = ir::valueRange(expr, rangesOf(program, enclosing));
  if (lo <= range.lo && range.hi <= hi) return true;
  const bool guarded =
      !guard.empty() || std::any_of(enclosing.begin(), enclosing.end(),
                                    [](const ir::Node* node) { return !node->guard.empty(); });
  if (!guarded) return false;
  const auto possible = [&](std::int64_t from, std::int64_t to) {
    if (from > to) return false;
    ir::System system;
    const Instance instance = addInstance(system, program, enclosing, guard);
    system.constrain(instance.coefs(expr), from - expr.constant(), to - expr.constant());
    return system.feasible() != Answer::no;
  };
  return !possible(range.lo, lo - 1) && !possible(hi, range.hi - 1);
}

std::optional<std::vector<Affine>> sameElement(const ir::Accesses& accesses, const Site& write,
                                               const Site& read, int fixed) {
  return matching(accesses.program(), write, read, fixed, kEveryDim);
}

bool runsAlways(const ir::Program& program, const Site& site, int from) {
  std::vector<const ir::Node*> around(site.enclosing.begin(), site.enclosing.begin() + from);
  const auto holds = [&](const ir::Guard& guard) {
    return std::all_of(guard.begin(), guard.end(), [&](const ir::GuardTerm& term) {
      return alwaysWithin(program, around, {}, term.expr, term.lo, term.hi);
    });
  };
  for (std::size_t depth = at(from); depth < site.enclosing.size(); ++depth) {
    const ir::Node& node = *site.enclosing[depth];
    const ir::Extent& extent = node.scope().extent;
    if (!DOJO_CLAUSE(extent.isConstant())) return false;
    if (!DOJO_CLAUSE(holds(node.guard))) return false;
    around.push_back(&node);
  }
  return site.node->isScope() || DOJO_CLAUSE(holds(site.node->guard));
}

bool touchesAll(const ir::Program& program, const std::vector<const Site*>& sites,
                const std::vector<ir::BoxDim>& box, int fixed) {
  std::vector<Region> regions;
  for (const Site* site : sites) {
    std::optional<Region> region = regionOf(program, *site, fixed);
    if (region) regions.push_back(std::move(*region));
  }
  return fills(regions, box, [](int) { return false; });
}

std::optional<Definition> definitionOf(const ir::Accesses& accesses, const Site& read,
                                       int leastFixed, int exactDim) {
  const ir::Program& program = accesses.program();
  const ir::Buffer& buffer = program.buffer(read.access.buffer);
  std::vector<const Site*> writes;
  for (const Site* site : accesses.of(read.access.buffer)) {
    if (site->touch == ir::Touch::write) writes.push_back(site);
  }
  for (int fixed = static_cast<int>(read.enclosing.size()); fixed >= leastFixed; --fixed) {
    const int reader = read.path[at(fixed)];
    // The writes in earlier children of this body, latest first.
    std::vector<const Site*> before;
    for (const Site* write : writes) {
      if (write->path.size() > at(fixed) && sharesPrefix(write->path, read.path, at(fixed)) &&
          write->path[at(fixed)] < reader) {
        before.push_back(write);
      }
    }
    std::reverse(before.begin(), before.end());
    std::optional<Region> wanted;
    std::vector<Region> regions;
    for (const Site* write : before) {
      const int child = write->path[at(fixed)];
      if (matching(program, *write, read, fixed, exactDim)) return Definition{fixed, child};
      std::optional<Region> region = regionOf(program, *write, fixed);
      if (!region || !region->solid) continue;
      regions.push_back(std::move(*region));
      if (!wanted) {
        wanted = regionOf(program, read, fixed);
        if (wanted) clip(wanted->dims, buffer);
      }
      if (wanted &&
          fills(regions, wanted->dims, [&](int d) { return ignored(buffer, d, exactDim); })) {
        return Definition{fixed, child};
      }
    }
  }
  return std::nullopt;
}

namespace {

/// True where a write with another value of the variable at `depth` may touch what the site does.
bool meetsAcross(const ir::Accesses& accesses, const Site& read, int depth) {
  std::vector<ir::Relation> relations(at(depth), ir::Relation::any);
  relations.push_back(ir::Relation::different);
  const auto& sites = accesses.of(read.access.buffer);
  // Where data decides what runs, that they don't meet leaves open whether the index has a value.
  const auto inRows = [](const Site& site) {
    return std::any_of(site.enclosing.begin(), site.enclosing.end(),
                       [](const ir::Node* node) { return !node->scope().extent.isConstant(); });
  };
  if (inRows(read)) return true;
  return std::any_of(sites.begin(), sites.end(), [&](const Site* write) {
    if (write->touch != ir::Touch::write) return false;
    return inRows(*write) || ir::meet(accesses, *write, read, relations) != ir::Answer::no;
  });
}

}  // namespace

const Site* readsAcross(const ir::Accesses& accesses, ir::BufferId buffer, int depth) {
  for (const Site* site : accesses.of(buffer)) {
    if (site->touch != ir::Touch::read) continue;
    // Of one iteration there is no other, whichever scope it is.
    if (site->enclosing[at(depth)]->scope().extent == ir::Extent(1)) continue;
    if (definitionOf(accesses, *site, depth + 1)) continue;
    if (meetsAcross(accesses, *site, depth)) return site;
  }
  return nullptr;
}

const Site* foldHarms(const ir::Accesses& accesses, ir::BufferId buffer, int dim,
                      std::int64_t fold) {
  const ir::Program& program = accesses.program();
  // A dim with one index has one element either way.
  if (program.buffer(buffer).dims[at(dim)].extent == 1) return nullptr;
  const std::vector<const Site*>& sites = accesses.of(buffer);
  for (const Site* read : sites) {
    if (read->touch != ir::Touch::read) continue;
    // A valid program has written the value at some time before.
    const Definition from = definitionOf(accesses, *read, 0, dim).value_or(Definition{0, 0});
    for (const Site* write : sites) {
      if (write->touch != ir::Touch::write) continue;
      if (write->path.size() <= at(from.fixed) ||
          !sharesPrefix(write->path, read->path, at(from.fixed))) {
        continue;
      }
      const int child = write->path[at(from.fixed)];
      if (child < from.firstChild || child > read->path[at(from.fixed)]) continue;
      if (!DOJO_CLAUSE(!mayCollide(program, *write, *read, from.fixed, dim, fold))) return read;
    }
  }
  return nullptr;
}

}  // namespace dojo::moves
