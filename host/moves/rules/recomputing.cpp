// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/rules/recomputing.h"

#include <algorithm>
#include <optional>

#include "ir/print.h"
#include "moves/clause.h"
#include "moves/rules/edits.h"
#include "moves/rules/flow.h"

namespace dojo::moves {

namespace {

using ir::Site;

std::size_t sharedScopes(const ir::Path& a, const ir::Path& b) {
  const std::size_t most = std::min(a.size(), b.size()) - 1;
  std::size_t out = 0;
  while (out < most && a[out] == b[out]) ++out;
  return out;
}

class Planner {
 public:
  Planner(const State& state, ir::BufferId buffer, const ir::Path& use)
      : state_(state), program_(state.program()), accesses_(state.accesses()), buffer_(buffer) {
    out_.use = use;
  }

  Result<RecomputePlan> plan() {
    for (const auto& step : {&Planner::findUse, &Planner::findMaker, &Planner::findPlace}) {
      if (Status status = (this->*step)(); !status) return status.error();
    }
    std::vector<ir::Path> waiting = {maker_->path};
    while (!waiting.empty()) {
      const ir::Path path = waiting.back();
      waiting.pop_back();
      if (std::find(out_.makers.begin(), out_.makers.end(), path) != out_.makers.end()) continue;
      out_.makers.push_back(path);
      for (const Site* site : accesses_.below(path)) {
        if (site->touch == ir::Touch::write || keepsItsValue(*site)) continue;
        const std::optional<ir::Path> before = leafBefore(*site);
        if (!before) {
          return refuse("move.dependence",
                        "what " + ir::printAccess(program_, site->access) +
                            " held when the value was made is gone at its use",
                        path);
        }
        out_.inner.emplace_back(path, site->access);
        waiting.push_back(*before);
      }
    }
    std::sort(out_.makers.begin(), out_.makers.end());
    return finish();
  }

 private:
  Status findUse() {
    const ir::Node& node = *state_.visit(out_.use)->node;
    if (!node.isLeaf()) return refuse("move.shape", "a leaf was expected, not a scope", out_.use);
    for (const Site* site : accesses_.below(out_.use)) {
      if (site->touch != ir::Touch::read || site->access.buffer != buffer_) continue;
      const bool plain = std::none_of(site->access.indices.begin(), site->access.indices.end(),
                                      [](const ir::Index& index) { return index.isGather(); });
      if (site->reduction || !plain || (read_ != nullptr && read_->access != site->access)) {
        return refuse("move.shape", "the leaf must read one element of the buffer as operand",
                      out_.use);
      }
      read_ = site;
    }
    const std::string& name = program_.buffer(buffer_).name;
    if (read_ == nullptr) {
      return refuse("move.shape", "the leaf doesn't read '" + name + "'", out_.use);
    }
    out_.value = read_->access;
    return {};
  }

  /// The leaf that gives the value; other writers stand before it in its body, for what it
  /// overwrites.
  Status findMaker() {
    for (const Site* site : accesses_.of(buffer_)) {
      if (site->touch == ir::Touch::write) maker_ = site;
    }
    const std::string& name = program_.buffer(buffer_).name;
    if (maker_ == nullptr) {
      return refuse("move.shape", "nothing here makes '" + name + "'", out_.use);
    }
    for (const Site* site : accesses_.of(buffer_)) {
      if (site->touch != ir::Touch::write) continue;
      const bool overwritten = parent(site->path) == parent(maker_->path) &&
                               site->access == maker_->access &&
                               site->node->guard == maker_->node->guard;
      DOJO_NEEDS(overwritten,
                 refuse("move.dependence", "'" + name + "' is written here too", site->path));
    }
    if (maker_->node->leaf().isReduction()) {
      return refuse("move.shape", "the value is the result of a reduction", maker_->path);
    }
    return {};
  }

  /// Where the maker stood when it made the value of each use.
  Status findPlace() {
    shared_ = sharedScopes(maker_->path, out_.use);
    if (maker_->path[shared_] >= out_.use[shared_]) {
      return refuse("move.dependence", "the value is made after its use here", out_.use);
    }
    const auto fixed = static_cast<int>(shared_);
    auto at = sameElement(accesses_, *maker_, *read_, fixed);
    if (!at) {
      return refuse("move.dependence",
                    "no one execution of the leaf that makes the value was found for each use",
                    out_.use);
    }
    out_.at = std::move(*at);
    for (auto depth = fixed; depth < static_cast<int>(maker_->enclosing.size()); ++depth) {
      const bool once = ir::meet(accesses_, *maker_, *maker_,
                                 ir::equalThen(depth, {ir::Relation::different})) == ir::Answer::no;
      DOJO_NEEDS(once,
                 refuse("move.dependence", "the element is written more than once", maker_->path));
    }
    return {};
  }

  /// Whatever a leaf beside the maker read there is still there at the use.
  [[nodiscard]] bool keepsItsValue(const Site& read) const {
    for (const int depth : accesses_.privateDepths(read.access.buffer)) {
      if (!DOJO_CLAUSE(depth < static_cast<int>(shared_))) return false;
    }
    const auto& sites = accesses_.of(read.access.buffer);
    return std::none_of(sites.begin(), sites.end(), [&](const Site* site) {
      return site->touch == ir::Touch::write && mayRunBetween(*site, read);
    });
  }

  /// May the write hit the element after the read and before the use, in one iteration of the
  /// scopes that all three stand in?
  [[nodiscard]] bool mayRunBetween(const Site& write, const Site& read) const {
    const auto meets = [&](const std::vector<ir::Relation>& relations) {
      return ir::meet(accesses_, write, read, relations) != ir::Answer::no;
    };
    const auto fixed = static_cast<int>(shared_);
    if (write.path.size() <= shared_ ||
        !std::equal(read.path.begin(), read.path.begin() + fixed, write.path.begin())) {
      return false;
    }
    const int child = write.path[shared_];
    if (child < read.path[shared_] || child > out_.use[shared_]) return false;
    if (child > read.path[shared_]) {
      return !DOJO_CLAUSE(!meets(ir::equalThen(fixed, {})));
    }
    const auto common = static_cast<int>(sharedScopes(write.path, read.path));
    for (int depth = fixed; depth < common; ++depth) {
      if (!DOJO_CLAUSE(!meets(ir::equalThen(depth, {ir::Relation::greater})))) return true;
    }
    const bool after = !(write.path < read.path);
    return !DOJO_CLAUSE(!after || !meets(ir::equalThen(common, {})));
  }

  /// The leaf before, in the same body, that wrote what is read here.
  [[nodiscard]] std::optional<ir::Path> leafBefore(const Site& read) const {
    const ir::Path home = parent(read.path);
    for (ir::Path path = read.path; path.back()-- > 0;) {
      const ir::Node& node = *state_.visit(path)->node;
      const std::vector<const Site*> sites = accesses_.below(path);
      const bool writes = std::any_of(sites.begin(), sites.end(), [&](const Site* site) {
        return site->touch == ir::Touch::write && site->access.buffer == read.access.buffer;
      });
      if (!writes) continue;
      const bool makes = node.isLeaf() && !node.leaf().isReduction() &&
                         node.leaf().dst == read.access && node.guard == maker_->node->guard;
      return makes ? std::optional(path) : std::nullopt;
    }
    return std::nullopt;
  }

  Result<RecomputePlan> finish() {
    for (const ir::Path& path : out_.makers) {
      const ir::Leaf& leaf = state_.visit(path)->node->leaf();
      for (const ir::Path& other : out_.makers) {
        const ir::Leaf& against = state_.visit(other)->node->leaf();
        if (leaf.dst.buffer == against.dst.buffer && leaf.dst != against.dst) {
          return refuse("move.shape", "the leaves that make the value write several elements",
                        path);
        }
      }
      if (leaf.dst.buffer == buffer_) continue;
      if (std::find(out_.own.begin(), out_.own.end(), leaf.dst.buffer) == out_.own.end()) {
        out_.own.push_back(leaf.dst.buffer);
      }
    }
    out_.own.push_back(buffer_);
    if (out_.own.size() > kMostRecomputed) {
      return refuse("move.shape", "it takes too many values to make this one again", out_.use);
    }
    return std::move(out_);
  }

  const State& state_;
  const ir::Program& program_;
  const ir::Accesses& accesses_;
  ir::BufferId buffer_;
  RecomputePlan out_;
  const Site* read_ = nullptr;
  const Site* maker_ = nullptr;
  std::size_t shared_ = 0;
};

void substituteIn(ir::Operand& operand, const std::vector<ir::Affine>& at) {
  if (auto* value = std::get_if<ir::Affine>(&operand)) *value = substituteAll(*value, 0, at);
  auto* access = std::get_if<ir::Access>(&operand);
  if (access == nullptr) return;
  for (ir::Index& index : access->indices) {
    index.affine = substituteAll(index.affine, 0, at);
    for (ir::Affine& inner : index.gatherIndices) inner = substituteAll(inner, 0, at);
  }
}

}  // namespace

Result<RecomputePlan> planRecompute(const State& state, ir::BufferId buffer, const ir::Path& use) {
  return Planner(state, buffer, use).plan();
}

ir::Program applyRecompute(const ir::Program& program, const RecomputePlan& plan,
                           const std::vector<std::string>& names) {
  ir::Program out = program;
  const std::vector<const ir::Node*> around = scopesAround(program, parent(plan.use));
  std::vector<ir::Access> elements;
  for (std::size_t i = 0; i < plan.own.size(); ++i) {
    const bool named = i < names.size();
    const ir::BufferId id = addTmp(out, named ? names[i] : out.freshName(),
                                   program.buffer(plan.own[i]).dtype, {}, "register");
    out.buffer(id).dims = innerDims(program, around);
    elements.push_back(innerElement(id, static_cast<int>(around.size())));
  }
  ir::Node& use = *ir::find(out, plan.use);
  for (ir::Operand& operand : use.leaf().operands) {
    if (operand == ir::Operand(plan.value)) operand = elements.back();
  }
  const ir::Guard guard = use.guard;
  ir::Path place = plan.use;
  const auto replace = [&](ir::Access& access) {
    const auto found = std::find(plan.own.begin(), plan.own.end(), access.buffer);
    access = elements[static_cast<std::size_t>(found - plan.own.begin())];
  };
  for (const ir::Path& path : plan.makers) {
    ir::Node node = *ir::find(program, path);
    for (ir::Operand& operand : node.leaf().operands) {
      auto* access = std::get_if<ir::Access>(&operand);
      if (access == nullptr) {
        substituteIn(operand, plan.at);
        continue;
      }
      const bool inner = std::find(plan.inner.begin(), plan.inner.end(),
                                   std::pair(path, *access)) != plan.inner.end();
      if (inner) {
        replace(*access);
      } else {
        substituteIn(operand, plan.at);
      }
    }
    replace(node.leaf().dst);
    node.guard = guard;
    insert(out, place, std::move(node));
    place = sibling(place, 1);
  }
  return out;
}

}  // namespace dojo::moves
