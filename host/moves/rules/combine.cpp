// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "ir/canonical.h"
#include "moves/clause.h"
#include "moves/rule.h"
#include "moves/rules/edits.h"
#include "moves/rules/partials.h"

namespace dojo::moves::rules {

namespace {

using ir::Affine;

struct Combined {
  ir::Program program;
  Trace back;
};

class Combine : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo out = {
        "combine",
        "computation",
        {{"P", ArgKind::place}, {"T", ArgKind::buffer, true}},
        "Removes the partial accumulators T that the variable of P indexes: their reduction goes "
        "to the accumulator directly.",
        "T has the form that privatize gives it.",
        "privatize",
        R"(kernel k
in x f32 [64]
out y f32 []
tmp t0 f32 [16] @register

y[] = 0
16
| t0[{0}] = 0
4
| 16
| | t0[{1}] += x[{0}*16 + {1}]
16
| y[] += t0[{0}]
)",
        "combine @2.0",
        R"(kernel k
in x f32 [64]
out y f32 []

y[] = 0
4
| 16
| | y[] += x[{0}*16 + {1}]
)"};
    return out;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (!place.node->isScope()) return;
    const std::vector<ir::BufferId> partials = partialsOf(state, place.path);
    for (const ir::BufferId id : partials) {
      std::vector<Arg> args = {place.path};
      if (partials.size() > 1) args.emplace_back(state.program().buffer(id).name);
      out.push_back(std::move(args));
    }
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    const Result<Combined> found = combined(state, args);
    return found ? Status() : found.error();
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    return combined(state, args).value().program;
  }

  [[nodiscard]] Trace inverse(const State& before, const std::vector<Arg>& args,
                              const ir::Program& /*after*/) const override {
    return combined(before, args).value().back;
  }

 private:
  /// The tmps that P's body reduces into with P's variable as last index.
  static std::vector<ir::BufferId> partialsOf(const State& state, const ir::Path& scope) {
    const ir::Index last = Affine::variable(depthOf(scope));
    std::vector<ir::BufferId> out;
    for (const ir::Site* site : state.accesses().below(scope)) {
      if (site->touch != ir::Touch::write || !site->reduction) continue;
      const ir::Access& access = site->access;
      if (access.indices.empty() || !(access.indices.back() == last)) continue;
      if (state.program().buffer(access.buffer).isArgument()) continue;
      if (std::find(out.begin(), out.end(), access.buffer) == out.end()) {
        out.push_back(access.buffer);
      }
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  static Result<Combined> combined(const State& state, const std::vector<Arg>& args) {
    const ir::Path& scope = placeArg(args, 0);
    if (Status status = needsConstantExtent(state, scope); !status) return status.error();
    ir::BufferId id = -1;
    if (args.size() > 1) {
      id = bufferArg(state, args, 1);
    } else {
      const std::vector<ir::BufferId> candidates = partialsOf(state, scope);
      if (candidates.size() != 1) {
        return refuse("move.shape",
                      candidates.empty() ? "the scope has no partial accumulators"
                                         : "the scope has several partial accumulators: name one",
                      scope);
      }
      id = candidates[0];
    }
    const std::optional<ir::Path> around = surrounded(state, id, scope);
    std::optional<Combined> out;
    if (around) out = withoutPartials(state, id, scope, *around);
    if (out) return std::move(*out);
    return refuse("move.shape",
                  "'" + state.program().buffer(id).name +
                      "' doesn't stand as privatize makes partial accumulators",
                  scope);
  }

  /// Q: the scope around P between the nest that sets the partials and the one that combines them.
  static std::optional<ir::Path> surrounded(const State& state, ir::BufferId id,
                                            const ir::Path& scope) {
    const auto rank = static_cast<std::size_t>(state.program().buffer(id).rank());
    for (const ir::Site* site : state.accesses().of(id)) {
      if (site->touch != ir::Touch::write || site->reduction) continue;
      if (site->path.size() < rank + 1) continue;
      const std::size_t depth = site->path.size() - rank - 1;
      if (scope.size() <= depth || scope[depth] != site->path[depth] + 1 ||
          !std::equal(scope.begin(), scope.begin() + static_cast<std::ptrdiff_t>(depth),
                      site->path.begin())) {
        continue;
      }
      return ir::Path(scope.begin(), scope.begin() + static_cast<std::ptrdiff_t>(depth + 1));
    }
    return std::nullopt;
  }

  /// The leaf of a nest that reduces the partial accumulators into others.
  static const ir::Leaf* combiningLeaf(const ir::Node& nest, ir::BufferId partial) {
    const ir::Node* node = &nest;
    while (node->isScope()) {
      if (node->scope().body.size() != 1) return nullptr;
      node = &node->scope().body[0];
    }
    const ir::Leaf& leaf = node->leaf();
    if (!leaf.isReduction() || leaf.op != ir::Op::copy || leaf.dst.buffer == partial)
      return nullptr;
    const auto* from = std::get_if<ir::Access>(&leaf.operands[0]);
    return from != nullptr && from->buffer == partial ? &leaf : nullptr;
  }

  static std::optional<Combined> withoutPartials(const State& state, ir::BufferId id,
                                                 const ir::Path& scope, const ir::Path& around) {
    const ir::Buffer& partial = state.program().buffer(id);
    if (!state.target().offersLocation(partial.location)) return std::nullopt;
    // The leaf of the nest after Q, a run of siblings, names the accumulator.
    int count = 1;
    const ir::Leaf* combining = nullptr;
    for (; combining == nullptr; ++count) {
      const ir::Node* node = ir::find(state.program(), sibling(around, count));
      if (node == nullptr) return std::nullopt;
      combining = combiningLeaf(*node, id);
    }
    --count;
    const ir::Access accumulator = combining->dst;
    Combined out{state.program(), {}};
    const auto redirect = [&](ir::Access& access) {
      if (access.buffer != id) return;
      std::vector<Affine> values;
      for (const ir::Index& index : access.indices) values.push_back(index.affine);
      std::vector<Affine> indices;
      for (const ir::Index& index : accumulator.indices) {
        indices.push_back(substituteAll(index.affine, depthOf(around), values));
      }
      access = element(accumulator.buffer, indices);
    };
    for (int i = 0; i < count; ++i) {
      ir::forEachAccessMutable(*ir::find(out.program, sibling(around, i)), redirect);
    }
    static_cast<void>(extract(out.program, sibling(around, count)));
    static_cast<void>(extract(out.program, sibling(around, -1)));
    ir::canonicalize(out.program);

    PartialRequest request;
    const std::string& name = state.program().buffer(accumulator.buffer).name;
    const std::optional<ir::BufferId> source = out.program.find(name);
    if (!source) return std::nullopt;
    request.scope = scope;
    --request.scope[around.size() - 1];
    request.around = sibling(around, -1);
    request.count = count;
    request.accumulator = *source;
    request.location = partial.location;
    request.name = partial.name;
    const State without(out.program, state.target());
    const Result<PartialPlan> plan = planPartials(without.accesses(), request);
    if (!plan) return std::nullopt;
    ir::Program again = applyPartials(out.program, request, *plan);
    ir::canonicalize(again);
    if (!DOJO_CLAUSE(again == state.program())) return std::nullopt;
    const bool exact = plan->assign == ir::Assign::max || plan->assign == ir::Assign::min ||
                       !ir::isFloat(partial.dtype);
    if (!exact && !DOJO_CLAUSE(!without.reachesDecision(*source))) return std::nullopt;
    std::vector<Arg> args = {request.scope, request.around, partial.location};
    const bool fresh = partial.name == out.program.freshName() && count == 1;
    if (!fresh || accumulatorsOf(without, request.scope).size() > 1) args.emplace_back(name);
    if (!fresh) args.emplace_back(partial.name);
    if (count > 1) args.emplace_back(std::int64_t{count});
    out.back.push_back(makeMove("privatize", std::move(args)));
    return out;
  }
};

}  // namespace

const Rule& combine() {
  static const Combine rule;
  return rule;
}

}  // namespace dojo::moves::rules
