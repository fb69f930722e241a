// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <string>

#include "ir/print.h"
#include "moves/arguments.h"
#include "moves/clause.h"
#include "moves/rule.h"

namespace dojo::moves::rules {

namespace {

class CollapseScopes final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "collapse_scopes",
        .group = "structure",
        .parameters = {{"P", ArgKind::place}},
        .effect =
            "The scope P of M iterations and the scope of f iterations that is all of its body "
            "become one scope of M*f.",
        .needs =
            "Perfectly nested, the inner scope without a guard; constant extents; neither scope "
            "is mapped; every index uses the two variables as {outer}*f + {inner}, or neither.",
        .inverse = "split_scope",
        .before = R"(kernel scale
in x f32 [64]
out y f32 [64]

4
| 16
| | y[{0}*16 + {1}] = x[{0}*16 + {1}] * 3
)",
        .move = "collapse_scopes @0",
        .after = R"(kernel scale
in x f32 [64]
out y f32 [64]

64
| y[{0}] = x[{0}] * 3
)"};
    return info;
  }

  void choices(const State&, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (isPerfectPair(*place.node)) out.push_back({place.path});
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    const ir::Path innerPlace = child(place, 0);
    if (Status status = needsConstantExtent(state, place); !status) return status;
    const ir::Node& outer = *state.visit(place)->node;
    if (!isPerfectPair(outer)) {
      return refuse("move.shape", "the body of the scope is not one scope alone", place);
    }
    const ir::Node& inner = outer.scope().body.front();
    if (Status status = needsConstantExtent(state, innerPlace); !status) return status;
    if (Status status = needsUnmapped(state, place); !status) return status;
    if (Status status = needsUnmapped(state, innerPlace); !status) return status;
    DOJO_NEEDS(inner.guard.empty(),
               refuse("move.guard", "the inner scope has a guard", innerPlace));
    const std::int64_t f = inner.scope().extent.count;
    if (outer.scope().extent.count > ir::kMaxElements / f) {
      return refuse("move.extent", "the extent would be too large", place);
    }
    const int depth = depthOf(place);
    const ir::Affine* bad = nullptr;
    for (const ir::Node& node : inner.scope().body) {
      ir::forEachAffine(node, [&](const ir::Affine& expr) {
        if (expr.coef(depth) != expr.coef(depth + 1) * f) bad = &expr;
      });
    }
    if (DOJO_CLAUSE(bad == nullptr)) return {};
    return refuse("move.affine",
                  "the expression " + ir::printAffine(*bad) +
                      " is not affine in one variable for both scopes",
                  place);
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    const int depth = depthOf(place);
    ir::Program out = state.program();
    ir::Scope& outer = ir::find(out, place)->scope();
    ir::Scope inner = std::move(outer.body.front().scope());
    for (ir::Node& node : inner.body) {
      ir::substitute(node, depth, ir::Affine(0));
      ir::shiftVariables(node, depth + 1, -1);
    }
    outer.extent.count *= inner.extent.count;
    outer.body = std::move(inner.body);
    return out;
  }

  Trace inverse(const State& before, const std::vector<Arg>& args,
                const ir::Program&) const override {
    const ir::Scope* inner = scopeAt(before.program(), child(placeArg(args, 0), 0));
    return {Move{"split_scope", {args[0], inner->extent.count}}};
  }
};

}  // namespace

const Rule& collapseScopes() {
  static const CollapseScopes rule;
  return rule;
}

}  // namespace dojo::moves::rules
