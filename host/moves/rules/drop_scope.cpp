// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <utility>

#include "moves/arguments.h"
#include "moves/clause.h"
#include "moves/rule.h"

namespace dojo::moves::rules {

namespace {

class DropScope final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "drop_scope",
        .group = "structure",
        .parameters = {{"P", ArgKind::place}},
        .effect = "The scope P, which has one iteration and one child, is replaced by the child.",
        .needs = "One iteration, no guard, not mapped; nothing mentions P's variable.",
        .inverse = "add_scope",
        .before = R"(kernel sum
in x f32 [64]
out s f32 []

s[] = 0
1
| 64
| | s[] += x[{1}]
)",
        .move = "drop_scope @1",
        .after = R"(kernel sum
in x f32 [64]
out s f32 []

s[] = 0
64
| s[] += x[{0}]
)"};
    return info;
  }

  void choices(const State&, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (!place.node->isScope()) return;
    const ir::Scope& scope = place.node->scope();
    if (scope.extent.isConstant() && scope.body.size() == 1) out.push_back({place.path});
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    if (Status status = needsUnmapped(state, place); !status) return status;
    if (Status status = needsConstantExtent(state, place); !status) return status;
    const ir::Node& node = *state.visit(place)->node;
    DOJO_NEEDS(node.scope().extent.count == 1,
               refuse("move.extent", "the scope has other than one iteration", place));
    DOJO_NEEDS(node.guard.empty(), refuse("move.guard", "the scope stands under a guard", place));
    if (node.scope().body.size() != 1) {
      return refuse("move.shape", "the scope has several children", place);
    }
    if (ir::mentionsVariable(node.scope().body.front(), depthOf(place))) {
      return refuse("move.affine", "the variable of the scope is mentioned", place);
    }
    return {};
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    ir::Program out = state.program();
    ir::Node outer = extract(out, place);
    ir::Node inner = std::move(outer.scope().body.front());
    ir::shiftVariables(inner, depthOf(place) + 1, -1);
    insert(out, place, std::move(inner));
    return out;
  }

  Trace inverse(const State&, const std::vector<Arg>& args, const ir::Program&) const override {
    return {Move{"add_scope", args}};
  }
};

}  // namespace

const Rule& dropScope() {
  static const DropScope rule;
  return rule;
}

}  // namespace dojo::moves::rules
