// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/print.h"
#include "moves/arguments.h"
#include "moves/clause.h"
#include "moves/rule.h"
#include "moves/rules/guards.h"

namespace dojo::moves::rules {

namespace {

class DropGuard final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "drop_guard",
        .group = "structure",
        .parameters = {{"P", ArgKind::place}, {"i", ArgKind::number}},
        .effect = "Term i of the guard of P goes away.",
        .needs =
            "The ranges of the variables, the guards around P and its other terms imply the "
            "term.",
        .inverse = "add_guard",
        .before = R"(kernel scale
in x f32 [64]
out y f32 [64]

4
| 16
| | y[{0}*16 + {1}] = x[{0}*16 + {1}] * 3 if {0}*16 + {1} in [0, 64)
)",
        .move = "drop_guard @0.0.0 0",
        .after = R"(kernel scale
in x f32 [64]
out y f32 [64]

4
| 16
| | y[{0}*16 + {1}] = x[{0}*16 + {1}] * 3
)"};
    return info;
  }

  void choices(const State&, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    for (std::size_t i = 0; i < place.node->guard.size(); ++i) {
      out.push_back({place.path, static_cast<std::int64_t>(i)});
    }
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    const Result<ir::GuardTerm> term = termAt(state, place, numberArg(args, 1));
    if (!term) return term.error();
    if (DOJO_CLAUSE(implied(state, *state.visit(place), *term))) return {};
    return refuse("move.guard", "without " + ir::printGuardTerm(*term) + " the node may run more",
                  place);
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    ir::Program out = state.program();
    ir::Guard& guard = ir::find(out, place)->guard;
    guard.erase(guard.begin() + numberArg(args, 1));
    return out;
  }

  Trace inverse(const State& before, const std::vector<Arg>& args,
                const ir::Program&) const override {
    const ir::Path& place = placeArg(args, 0);
    const ir::GuardTerm term = termAt(before, place, numberArg(args, 1)).value();
    return {Move{"add_guard", {place, ir::printGuardTerm(term)}}};
  }
};

}  // namespace

const Rule& dropGuard() {
  static const DropGuard rule;
  return rule;
}

}  // namespace dojo::moves::rules
