// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "ir/canonical.h"
#include "moves/clause.h"
#include "moves/rule.h"
#include "moves/rules/cache.h"
#include "moves/rules/edits.h"
#include "moves/rules/flow.h"

namespace dojo::moves::rules {

namespace {

using ir::Affine;
using ir::Site;

/// The program without the copy, and the moves that make the copy again.
struct Forwarded {
  ir::Program program;
  Trace back;
};

/// `tmp[{L}, {L+1}, ...]` in a leaf `dst = src`, alone in plain scopes over the tmp's dims that
/// stand as child `position` in the body of `place`.
struct CopyNest {
  ir::Path place;
  int position = 0;
  ir::Access other;  ///< What the tmp is a copy of.
};

bool isCopyLeaf(const ir::Node& node) {
  return node.isLeaf() && node.leaf().assign == ir::Assign::set && node.leaf().op == ir::Op::copy &&
         std::holds_alternative<ir::Access>(node.leaf().operands[0]);
}

/// The nest around a site of the tmp, where it has that form.
std::optional<CopyNest> copyNestAt(const ir::Program& program, const Site& site) {
  if (!isCopyLeaf(*site.node)) return std::nullopt;
  const ir::Buffer& tmp = program.buffer(site.access.buffer);
  const auto rank = static_cast<std::size_t>(tmp.rank());
  if (site.path.size() < rank + 1) return std::nullopt;
  CopyNest out;
  out.place.assign(site.path.begin(), site.path.end() - static_cast<std::ptrdiff_t>(rank + 1));
  const std::size_t depth = out.place.size();
  out.position = site.path[depth];
  for (std::size_t i = 0; i < rank; ++i) {
    const ir::Node& node = *site.enclosing[depth + i];
    const ir::Scope& scope = node.scope();
    if (scope.body.size() != 1 || !node.guard.empty() || !scope.mapping.none()) return std::nullopt;
    if (!(scope.extent == ir::Extent(tmp.dims[i].extent))) return std::nullopt;
    const ir::Index expected = Affine::variable(static_cast<int>(depth + i));
    if (!(site.access.indices[i] == expected)) return std::nullopt;
  }
  const ir::Leaf& leaf = site.node->leaf();
  out.other = site.touch == ir::Touch::write ? std::get<ir::Access>(leaf.operands[0]) : leaf.dst;
  if (out.other.buffer == site.access.buffer) return std::nullopt;
  for (const ir::Index& index : out.other.indices) {
    if (index.isGather()) return std::nullopt;
  }
  return out;
}

/// Replaces every access of the tmp below `body` by the element that it is a copy of.
void redirect(std::vector<ir::Node>& body, ir::BufferId tmp, const CopyNest& nest) {
  for (ir::Node& node : body) {
    ir::forEachAccessMutable(node, [&](ir::Access& access) {
      if (access.buffer != tmp) return;
      std::vector<Affine> values;
      for (const ir::Index& index : access.indices) values.push_back(index.affine);
      std::vector<Affine> indices;
      for (const ir::Index& index : nest.other.indices) {
        indices.push_back(substituteAll(index.affine, static_cast<int>(nest.place.size()), values));
      }
      access = element(nest.other.buffer, indices);
    });
  }
}

bool within(const ir::Path& path, const ir::Path& place) {
  return path.size() > place.size() && std::equal(place.begin(), place.end(), path.begin());
}

Error notACopy(const std::string& name) {
  return refuse("move.shape", "'" + name +
                                  "' is more than a copy as cache_read and cache_write make it "
                                  "(undo what was done to its copy nest first)");
}

class ForwardCopy : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo out = {
        "forward_copy",
        "buffers",
        {{"B", ArgKind::buffer}, {"kind", ArgKind::name, true}},
        "Removes the tmp B that is only a copy of a region: what it copies is used instead. kind: "
        "read or write, where B could be either.",
        "B has the form that cache_read or cache_write gives it.",
        "cache_read, cache_write",
        R"(kernel k
in x f32 [8, 64]
out y f32 [8, 64]
tmp t0 f32 [64]

8
| 64
| | t0[{1}] = x[{0}, {1}]
| 64
| | y[{0}, {1}] = t0[0] * t0[{1}]
)",
        "forward_copy t0",
        R"(kernel k
in x f32 [8, 64]
out y f32 [8, 64]

8
| 64
| | y[{0}, {1}] = x[{0}, 0] * x[{0}, {1}]
)"};
    return out;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    for (const ir::BufferId id : state.buffersAt(place)) {
      const ir::Buffer& buffer = state.program().buffer(id);
      if (!buffer.isArgument()) out.push_back({buffer.name});
    }
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    const Result<Forwarded> found = forward(state, args);
    return found ? Status() : found.error();
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    return forward(state, args).value().program;
  }

  [[nodiscard]] Trace inverse(const State& before, const std::vector<Arg>& args,
                              const ir::Program& /*after*/) const override {
    return forward(before, args).value().back;
  }

 private:
  static Result<Forwarded> forward(const State& state, const std::vector<Arg>& args) {
    const ir::BufferId id = bufferArg(state, args, 0);
    const ir::Buffer& buffer = state.program().buffer(id);
    const std::string kind = optionalText(args, 1).value_or("");
    if (!kind.empty() && kind != "read" && kind != "write") {
      return refuse("move.arguments", "the kind is read or write, not '" + kind + "'");
    }
    if (buffer.isArgument()) {
      return refuse("move.role", "'" + buffer.name + "' is an argument: it can't be removed");
    }
    std::optional<Forwarded> found;
    if (kind != "write") found = forwardRead(state, id);
    if (!found && kind != "read") found = forwardWrite(state, id);
    if (found) return std::move(*found);
    return notACopy(buffer.name);
  }

  static std::optional<Forwarded> forwardRead(const State& state, ir::BufferId id) {
    const ir::Program& program = state.program();
    std::optional<CopyNest> nest;
    for (const Site* site : state.accesses().of(id)) {
      if (site->touch != ir::Touch::write) continue;
      if (nest) return std::nullopt;
      nest = copyNestAt(program, *site);
      if (!nest) return std::nullopt;
    }
    if (!nest) return std::nullopt;
    if (!usedWithin(state, id, nest->place)) return std::nullopt;
    Forwarded out{program, {}};
    std::vector<ir::Node>& body = bodyOf(out.program, nest->place);
    body.erase(body.begin() + nest->position);
    redirect(body, id, *nest);
    return recreate(state, id, *nest, std::move(out), planCacheRead, nest->position);
  }

  static std::optional<Forwarded> forwardWrite(const State& state, ir::BufferId id) {
    const ir::Program& program = state.program();
    std::vector<CopyNest> firsts;
    std::vector<CopyNest> lasts;
    for (const Site* site : state.accesses().of(id)) {
      std::optional<CopyNest> nest = copyNestAt(program, *site);
      if (!nest) continue;
      const auto count = static_cast<int>(bodyOf(program, nest->place).size());
      if (site->touch == ir::Touch::read && nest->position == count - 1) {
        lasts.push_back(std::move(*nest));
      } else if (site->touch == ir::Touch::write && nest->position == 0) {
        firsts.push_back(std::move(*nest));
      }
    }
    for (const CopyNest& copyOut : lasts) {
      if (!usedWithin(state, id, copyOut.place)) continue;
      const bool copiedIn = std::any_of(firsts.begin(), firsts.end(), [&](const CopyNest& first) {
        return first.place == copyOut.place && first.other == copyOut.other;
      });
      // A copy nest at the start may be the body's own first write instead: both are tried.
      for (const bool removeFirst : {true, false}) {
        if (removeFirst && !copiedIn) continue;
        Forwarded out{program, {}};
        std::vector<ir::Node>& body = bodyOf(out.program, copyOut.place);
        body.pop_back();
        if (removeFirst && !body.empty()) body.erase(body.begin());
        redirect(body, id, copyOut);
        auto done = recreate(state, id, copyOut, std::move(out), planCacheWrite, 0);
        if (done) return done;
      }
    }
    return std::nullopt;
  }

  static bool usedWithin(const State& state, ir::BufferId id, const ir::Path& place) {
    const auto& sites = state.accesses().of(id);
    return std::all_of(sites.begin(), sites.end(),
                       [&](const Site* site) { return within(site->path, place); });
  }

  /// Every access is to an element that exists: where a guard of the copy kept the tmp as it was
  /// before, the source may have none.
  static bool staysInside(const ir::Accesses& accesses, ir::BufferId id) {
    const ir::Program& program = accesses.program();
    const std::vector<ir::Dim>& dims = program.buffer(id).dims;
    const auto& sites = accesses.of(id);
    return std::all_of(sites.begin(), sites.end(), [&](const Site* site) {
      for (std::size_t d = 0; d < dims.size(); ++d) {
        const ir::Index& index = site->access.indices[d];
        if (!index.isGather() && !alwaysWithin(program, site->enclosing, site->node->guard,
                                               index.affine, 0, dims[d].extent)) {
          return false;
        }
      }
      return true;
    });
  }

  /// Proves the way back: the cache move on the forwarded program gives this program again.
  template <class Plan>
  static std::optional<Forwarded> recreate(const State& state, ir::BufferId id,
                                           const CopyNest& nest, Forwarded out, const Plan& plan,
                                           int position) {
    const ir::Buffer& tmp = state.program().buffer(id);
    const std::string& source = state.program().buffer(nest.other.buffer).name;
    if (!state.target().offersLocation(tmp.location)) return std::nullopt;
    ir::canonicalize(out.program);
    const std::optional<ir::BufferId> sourceId = out.program.find(source);
    if (!sourceId) return std::nullopt;
    const CacheRequest request{nest.place, *sourceId, tmp.location, tmp.name};
    const ir::Accesses accesses(out.program);
    if (!DOJO_CLAUSE(staysInside(accesses, *sourceId))) return std::nullopt;
    const Result<CachePlan> planned = plan(accesses, request);
    if (!planned) return std::nullopt;
    ir::Program again = applyCache(out.program, request, *planned);
    std::vector<ir::Node>& body = bodyOf(again, nest.place);
    std::rotate(body.begin(), body.begin() + 1, body.begin() + position + 1);
    ir::canonicalize(again);
    if (!DOJO_CLAUSE(again == state.program())) return std::nullopt;
    std::vector<Arg> args = {nest.place, source, tmp.location};
    if (tmp.name != out.program.freshName()) args.emplace_back(tmp.name);
    out.back.push_back(makeMove(planned->copyOut ? "cache_write" : "cache_read", std::move(args)));
    for (int i = 0; i < position; ++i) {
      out.back.push_back(makeMove("swap_siblings", {child(nest.place, i)}));
    }
    return out;
  }
};

}  // namespace

const Rule& forwardCopy() {
  static const ForwardCopy rule;
  return rule;
}

}  // namespace dojo::moves::rules
