// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/dependence.h"

#include <algorithm>

#include "base/check.h"
#include "ir/storage.h"

namespace dojo::ir {

namespace {

class Collector {
 public:
  explicit Collector(std::vector<Site>& out) : out_(&out) {}

  void nodes(const std::vector<Node>& body) {
    site_.path.push_back(0);
    for (std::size_t i = 0; i < body.size(); ++i) {
      site_.path.back() = static_cast<int>(i);
      node(body[i]);
    }
    site_.path.pop_back();
  }

 private:
  void node(const Node& at) {
    site_.node = &at;
    if (at.isLeaf()) {
      leaf(at.leaf());
      return;
    }
    const Scope& scope = at.scope();
    if (scope.extent.range) {
      add(scope.extent.range->first, Touch::read, false);
      add(scope.extent.range->last, Touch::read, false);
    }
    site_.enclosing.push_back(&at);
    nodes(scope.body);
    site_.enclosing.pop_back();
  }

  void leaf(const Leaf& at) {
    for (const Operand& operand : at.operands) {
      const auto* access = std::get_if<Access>(&operand);
      if (access == nullptr) continue;
      for (const Index& index : access->indices) {
        if (!index.isGather()) continue;
        Access inner;
        inner.buffer = index.gather;
        inner.indices.assign(index.gatherIndices.begin(), index.gatherIndices.end());
        add(inner, Touch::read, false);
      }
      add(*access, Touch::read, false);
    }
    if (readsDestination(at)) add(at.dst, Touch::read, true);
    add(at.dst, Touch::write, at.isReduction());
  }

  void add(const Access& access, Touch touch, bool reduction) {
    Site& site = out_->emplace_back(site_);
    site.access = access;
    site.touch = touch;
    site.reduction = reduction;
  }

  std::vector<Site>* out_;
  Site site_;
};

bool startsWith(const Path& path, const Path& prefix) {
  return path.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), path.begin());
}

/// Concurrent scopes among those that enclose every site of the buffer.
std::vector<int> privateDepthsOf(const std::vector<const Site*>& sites) {
  std::vector<int> out;
  if (sites.empty()) return out;
  const Site& first = *sites.front();
  std::size_t common = first.enclosing.size();
  for (const Site* site : sites) {
    common = std::min(common, site->enclosing.size());
    for (std::size_t k = 0; k < common; ++k) {
      if (site->enclosing[k] != first.enclosing[k]) common = k;
    }
  }
  for (std::size_t k = 0; k < common; ++k) {
    if (first.enclosing[k]->scope().mapping.concurrent()) out.push_back(static_cast<int>(k));
  }
  return out;
}

}  // namespace

Accesses::Accesses(const Program& program) : program_(&program) {
  Collector(sites_).nodes(program.body);
  byBuffer_.resize(program.buffers.size());
  for (const Site& site : sites_) {
    byBuffer_[static_cast<std::size_t>(site.access.buffer)].push_back(&site);
  }
  privateDepths_.resize(program.buffers.size());
  std::vector<std::vector<BufferId>> storages;
  if (program.hasSharing()) storages = buffersByStorage(program);
  for (std::size_t id = 0; id < program.buffers.size(); ++id) {
    const Buffer& buffer = program.buffers[id];
    if (buffer.isArgument() || !buffer.isLocal()) continue;
    if (storages.empty() || storages[id].size() == 1) {
      privateDepths_[id] = privateDepthsOf(byBuffer_[id]);
      continue;
    }
    std::vector<const Site*> sites;
    for (const BufferId each : storages[id]) {
      sites.insert(sites.end(), of(each).begin(), of(each).end());
    }
    const std::vector<int> depths = privateDepthsOf(sites);
    for (const BufferId each : storages[id])
      privateDepths_[static_cast<std::size_t>(each)] = depths;
  }
}

std::vector<const Site*> Accesses::below(const Path& path) const {
  std::vector<const Site*> out;
  auto site = std::lower_bound(sites_.begin(), sites_.end(), path,
                               [](const Site& a, const Path& place) { return a.path < place; });
  for (; site != sites_.end() && startsWith(site->path, path); ++site) out.push_back(&*site);
  return out;
}

const std::vector<const Site*>& Accesses::of(BufferId buffer) const {
  return byBuffer_[static_cast<std::size_t>(buffer)];
}

const std::vector<int>& Accesses::privateDepths(BufferId buffer) const {
  return privateDepths_[static_cast<std::size_t>(buffer)];
}

bool mayConflict(const Site& a, const Site& b) {
  return a.access.buffer == b.access.buffer && (a.touch == Touch::write || b.touch == Touch::write);
}

bool anyConflict(const Accesses& accesses, const std::vector<const Site*>& first,
                 const std::vector<const Site*>& second, const std::vector<Relation>& relations,
                 const std::function<bool(const Site&, const Site&)>& exempt) {
  for (const Site* a : first) {
    for (const Site* b : second) {
      if (!mayConflict(*a, *b)) continue;
      if (exempt && exempt(*a, *b)) continue;
      if (meet(accesses, *a, *b, relations) != Answer::no) return true;
    }
  }
  return false;
}

std::vector<Relation> equalThen(int depth, std::vector<Relation> last) {
  last.insert(last.begin(), static_cast<std::size_t>(depth), Relation::equal);
  return last;
}

namespace {

/// The values of an index over the scopes at depths >= `fixed`, as an affine start in the others
/// and the interval of the rest; narrowed by guards on the very same expression.
struct Reach {
  Affine start;
  std::int64_t lo = 0, hi = 0;
};

Reach reachOf(const Program& program, const Site& site, const Affine& index, int fixed) {
  Reach out;
  Affine inner(index.constant());
  std::vector<Interval> ranges;
  for (const Node* scope : site.enclosing) {
    ranges.push_back(variableRange(program, scope->scope()));
  }
  for (const Term& term : index.terms()) {
    (term.var < fixed ? out.start : inner) += Affine::variable(term.var, term.coef);
  }
  const Interval values = valueRange(inner, ranges);
  out.lo = values.lo;
  out.hi = values.hi - 1;
  if (!out.start.isConstant()) return out;
  const auto narrow = [&](const Node& node) {
    for (const GuardTerm& term : node.guard) {
      const Affine rest = term.expr - index;
      if (!rest.isConstant()) continue;
      out.lo = std::max(out.lo, term.lo - rest.constant());
      out.hi = std::min(out.hi, term.hi - 1 - rest.constant());
    }
  };
  for (const Node* scope : site.enclosing) narrow(*scope);
  narrow(*site.node);
  return out;
}

}  // namespace

std::optional<std::vector<BoxDim>> boundingBox(const Program& program,
                                               const std::vector<const Site*>& sites, int fixed) {
  if (sites.empty()) return std::nullopt;
  const std::size_t rank = sites.front()->access.indices.size();
  std::vector<BoxDim> box(rank);
  for (std::size_t d = 0; d < rank; ++d) {
    std::optional<Reach> all;
    for (const Site* site : sites) {
      const Index& index = site->access.indices[d];
      if (index.isGather()) return std::nullopt;
      const Reach reach = reachOf(program, *site, index.affine, fixed);
      if (reach.lo > reach.hi) continue;  // Never executed.
      if (!all) {
        all = reach;
        continue;
      }
      if (!(all->start == reach.start)) return std::nullopt;
      all->lo = std::min(all->lo, reach.lo);
      all->hi = std::max(all->hi, reach.hi);
    }
    if (!all) return std::nullopt;
    box[d].start = all->start + Affine(all->lo);
    box[d].size = all->hi - all->lo + 1;
  }
  return box;
}

}  // namespace dojo::ir
