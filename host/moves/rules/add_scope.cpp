// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <utility>

#include "moves/arguments.h"
#include "moves/rule.h"

namespace dojo::moves::rules {

namespace {

class AddScope final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{.name = "add_scope",
                               .group = "structure",
                               .parameters = {{"P", ArgKind::place}},
                               .effect = "A scope of one iteration is put around the node P.",
                               .needs = "Scopes may nest one deeper there.",
                               .inverse = "drop_scope",
                               .before = R"(kernel sum
in x f32 [64]
out s f32 []

s[] = 0
64
| s[] += x[{0}]
)",
                               .move = "add_scope @1",
                               .after = R"(kernel sum
in x f32 [64]
out s f32 []

s[] = 0
1
| 64
| | s[] += x[{1}]
)"};
    return info;
  }

  void choices(const State&, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    out.push_back({place.path});
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    const ir::Visit& visit = *state.visit(place);
    if (static_cast<int>(visit.enclosing.size()) + height(*visit.node) >= ir::kMaxDepth) {
      return refuse("move.depth", "scopes nest as deep as they may here", place);
    }
    return {};
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    ir::Program out = state.program();
    ir::Node inner = extract(out, place);
    ir::shiftVariables(inner, depthOf(place), 1);
    ir::Scope scope;
    scope.extent = 1;
    scope.body.push_back(std::move(inner));
    insert(out, place, std::move(scope));
    return out;
  }

  Trace inverse(const State&, const std::vector<Arg>& args, const ir::Program&) const override {
    return {Move{"drop_scope", args}};
  }
};

}  // namespace

const Rule& addScope() {
  static const AddScope rule;
  return rule;
}

}  // namespace dojo::moves::rules
