// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/arguments.h"
#include "moves/rule.h"
#include "moves/rules/pipelining.h"

namespace dojo::moves::rules {

namespace {

class Pipeline final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "pipeline",
        .group = "buffers",
        .parameters = {{"P", ArgKind::place}},
        .effect =
            "What the first child of the scope P puts into a buffer for the other children is "
            "put there one iteration ahead, into storage for two: a copy of the first child "
            "stands before P.",
        .needs =
            "P is not mapped, has no guard, a constant extent of at least 2 and several "
            "children; the first fills one tmp, which is used in P alone and has a dim that "
            "is indexed by P's variable; it touches nothing that the others write in the "
            "iterations before, and writes nothing else.",
        .inverse = "unpipeline",
        .before = R"(kernel rows
in x f64 [4, 16]
out y f64 [4]
tmp t f64 [~4, 16]

4
| 16
| | t[{0}, {1}] = x[{0}, {1}]
| y[{0}] = 0
| 16
| | y[{0}] += t[{0}, {1}]
)",
        .move = "pipeline @0",
        .after = R"(kernel rows
in x f64 [4, 16]
out y f64 [4]
tmp t f64 [4~2, 16]

16
| t[0, {0}] = x[0, {0}]
4
| 16 if {0} in [0, 3)
| | t[{0} + 1, {1}] = x[{0} + 1, {1}]
| y[{0}] = 0
| 16
| | y[{0}] += t[{0}, {1}]
)"};
    return info;
  }

  void choices(const State&, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (!place.node->isScope()) return;
    const ir::Scope& scope = place.node->scope();
    if (scope.mapping.none() && scope.extent.isConstant() && scope.body.size() > 1) {
      out.push_back({place.path});
    }
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    return canPipeline(state, placeArg(args, 0));
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    return pipelined(state, placeArg(args, 0));
  }

  Trace inverse(const State&, const std::vector<Arg>& args, const ir::Program&) const override {
    return {Move{"unpipeline", {sibling(placeArg(args, 0), 1)}}};
  }
};

}  // namespace

const Rule& pipeline() {
  static const Pipeline rule;
  return rule;
}

}  // namespace dojo::moves::rules
