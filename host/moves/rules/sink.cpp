// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <string>
#include <utility>

#include "moves/arguments.h"
#include "moves/clause.h"
#include "moves/rule.h"
#include "moves/rules/invariant.h"
#include "moves/rules/sizes.h"

namespace dojo::moves::rules {

namespace {

bool has(const ir::Guard& guard, const ir::GuardTerm& term) {
  return std::find(guard.begin(), guard.end(), term) != guard.end();
}

class Sink final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "sink",
        .group = "structure",
        .parameters = {{"P", ArgKind::place}, {"k", ArgKind::number}},
        .effect =
            "The node P moves into the scope that follows it, before its child k, and runs in "
            "every iteration. A guard of the scope is taken off it.",
        .needs =
            "The extent is constant; P has the guards of the scope; running P again changes "
            "nothing (plain assignments, max= and min=; sums with their initialization); what it "
            "reads and writes is not written in the scope, and what it writes is not read before "
            "child k there. A scope of one iteration only asks for the last, and that no child "
            "before k writes what P reads or writes.",
        .inverse = "hoist",
        .before = R"(kernel scale_rows
in x f32 [8, 64]
in a f32 [8]
out y f32 [8, 64]
tmp s f32 [8]

8
| s[{0}] = exp(a[{0}])
| 64
| | y[{0}, {1}] = x[{0}, {1}] * s[{0}]
)",
        .move = "sink @0.0 0",
        .after = R"(kernel scale_rows
in x f32 [8, 64]
in a f32 [8]
out y f32 [8, 64]
tmp s f32 [8]

8
| 64
| | s[{0}] = exp(a[{0}])
| | y[{0}, {1}] = x[{0}, {1}] * s[{0}]
)"};
    return info;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    const ir::Scope* scope = scopeAt(state.program(), sibling(place.path, 1));
    if (scope == nullptr || !scope->extent.isConstant()) return;
    const auto count = static_cast<std::int64_t>(scope->body.size());
    for (std::int64_t k = 0; k <= count; ++k) out.push_back({place.path, k});
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    const std::int64_t k = numberArg(args, 1);
    const ir::Path scope = sibling(place, 1);
    if (Status status = needsNextSibling(state, place); !status) return status;
    if (Status status = needsConstantExtent(state, scope); !status) return status;
    const ir::Node& node = *state.visit(place)->node;
    const ir::Node& into = *state.visit(scope)->node;
    const auto count = static_cast<std::int64_t>(into.scope().body.size());
    if (k < 0 || k > count) {
      return refuse("move.shape",
                    "the scope has " + std::to_string(count) + " children, so that " +
                        std::to_string(k) + " is no place among them",
                    scope);
    }
    if (Status status = needsDepth(place, height(node) + 1); !status) return status;
    for (const ir::GuardTerm& term : into.guard) {
      DOJO_NEEDS(has(node.guard, term),
                 refuse("move.guard", "the scope has a guard that the node does not have", scope));
    }
    return proveInvariant(state, place, scope, static_cast<int>(k));
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    ir::Program out = state.program();
    ir::Node node = extract(out, place);
    const int depth = depthOf(place);
    ir::shiftVariables(node, depth, 1);
    ir::Node& into = *ir::find(out, place);
    std::erase_if(node.guard, [&](const ir::GuardTerm& term) { return has(into.guard, term); });
    insert(out, child(place, static_cast<int>(numberArg(args, 1))), std::move(node));
    return out;
  }

  Trace inverse(const State&, const std::vector<Arg>& args, const ir::Program&) const override {
    return {Move{"hoist", {child(placeArg(args, 0), static_cast<int>(numberArg(args, 1)))}}};
  }
};

}  // namespace

const Rule& sink() {
  static const Sink rule;
  return rule;
}

}  // namespace dojo::moves::rules
