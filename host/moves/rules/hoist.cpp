// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <utility>

#include "moves/arguments.h"
#include "moves/clause.h"
#include "moves/rule.h"
#include "moves/rules/invariant.h"

namespace dojo::moves::rules {

namespace {

class Hoist final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "hoist",
        .group = "structure",
        .parameters = {{"P", ArgKind::place}},
        .effect =
            "The node P moves out of its scope, to just before it, and runs once instead of in "
            "every iteration. The guard of the scope, if any, is put on it too.",
        .needs =
            "P mentions nothing of the scope's variable, in its guard neither; the extent is "
            "constant, and other nodes stay in the scope; running P again changes nothing (plain "
            "assignments, max= and min=; sums with their initialization); what it reads and "
            "writes is not written elsewhere in the scope, and what it writes is not read before "
            "it there. A scope of one iteration only asks for the last, and that nothing before "
            "it writes what it reads or writes.",
        .inverse = "sink",
        .before = R"(kernel scale_rows
in x f32 [8, 64]
in a f32 [8]
out y f32 [8, 64]
tmp s f32 [8]

8
| 64
| | s[{0}] = exp(a[{0}])
| | y[{0}, {1}] = x[{0}, {1}] * s[{0}]
)",
        .move = "hoist @0.0.0",
        .after = R"(kernel scale_rows
in x f32 [8, 64]
in a f32 [8]
out y f32 [8, 64]
tmp s f32 [8]

8
| s[{0}] = exp(a[{0}])
| 64
| | y[{0}, {1}] = x[{0}, {1}] * s[{0}]
)"};
    return info;
  }

  void choices(const State&, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (place.enclosing.empty() || place.enclosing.back()->scope().body.size() < 2) return;
    out.push_back({place.path});
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    const ir::Visit& visit = *state.visit(place);
    if (visit.enclosing.empty()) {
      return refuse("move.shape", "the node is in no scope", place);
    }
    const ir::Node& node = *visit.node;
    const ir::Node& around = *visit.enclosing.back();
    const ir::Path scope = parent(place);
    if (around.scope().body.size() < 2) {
      return refuse("move.shape", "the scope would be empty", scope);
    }
    if (Status status = needsConstantExtent(state, scope); !status) return status;
    DOJO_NEEDS(!ir::mentionsVariable(node, depthOf(scope)),
               refuse("move.shape", "the node depends on the variable of the scope", place));
    for (const ir::GuardTerm& own : node.guard) {
      for (const ir::GuardTerm& outer : around.guard) {
        DOJO_NEEDS(own.expr != outer.expr,
                   refuse("move.guard", "the node and its scope guard the same expression", place));
      }
    }
    return proveInvariant(state, place, scope, place.back());
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    const ir::Path scope = parent(place);
    ir::Program out = state.program();
    ir::Node node = extract(out, place);
    ir::shiftVariables(node, depthOf(place), -1);
    const ir::Guard& guard = ir::find(out, scope)->guard;
    node.guard.insert(node.guard.end(), guard.begin(), guard.end());
    insert(out, scope, std::move(node));
    return out;
  }

  Trace inverse(const State&, const std::vector<Arg>& args, const ir::Program&) const override {
    const ir::Path& place = placeArg(args, 0);
    return {Move{"sink", {parent(place), std::int64_t{place.back()}}}};
  }
};

}  // namespace

const Rule& hoist() {
  static const Hoist rule;
  return rule;
}

}  // namespace dojo::moves::rules
