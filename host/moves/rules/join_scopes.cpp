// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <iterator>
#include <utility>

#include "moves/arguments.h"
#include "moves/clause.h"
#include "moves/order.h"
#include "moves/rule.h"

namespace dojo::moves::rules {

namespace {

class JoinScopes final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "join_scopes",
        .group = "structure",
        .parameters = {{"P", ArgKind::place}},
        .effect =
            "The body of the next sibling is done in the iterations of P, after its own body.",
        .needs =
            "The next sibling is a scope of equal extent, guard and mapping; no dependence is "
            "reversed: nothing that iteration i of P does is needed undone by an earlier "
            "iteration of the sibling.",
        .inverse = "fission_scope",
        .before = R"(kernel two_steps
in x f32 [64]
out y f32 [64]
tmp t f32 [64]

64
| t[{0}] = exp(x[{0}])
64
| y[{0}] = t[{0}] * 3
)",
        .move = "join_scopes @0",
        .after = R"(kernel two_steps
in x f32 [64]
out y f32 [64]
tmp t f32 [64]

64
| t[{0}] = exp(x[{0}])
| y[{0}] = t[{0}] * 3
)"};
    return info;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    const ir::Scope* next = scopeAt(state.program(), sibling(place.path, 1));
    if (next != nullptr && place.node->isScope()) out.push_back({place.path});
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    const ir::Path nextPlace = sibling(place, 1);
    if (Status status = needsScope(state, place); !status) return status;
    if (Status status = needsNextSibling(state, place); !status) return status;
    if (Status status = needsScope(state, nextPlace); !status) return status;
    const ir::Node& first = *state.visit(place)->node;
    const ir::Node& second = *state.visit(nextPlace)->node;
    DOJO_NEEDS(first.scope().extent == second.scope().extent,
               refuse("move.extent", "the next scope has another extent", nextPlace));
    DOJO_NEEDS(first.scope().mapping == second.scope().mapping,
               refuse("move.mapping", "the next scope is mapped in another way", nextPlace));
    DOJO_NEEDS(first.guard == second.guard,
               refuse("move.guard", "the next scope has another guard", nextPlace));
    const auto reversal =
        findReversal(state, state.accesses().below(place), state.accesses().below(nextPlace),
                     ir::equalThen(depthOf(place), {ir::Relation::greater}),
                     {iteration(state.program(), place), iteration(state.program(), nextPlace)});
    DOJO_NEEDS(!reversal, dependenceError(state, *reversal, place));
    return {};
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    ir::Program out = state.program();
    ir::Node second = extract(out, sibling(place, 1));
    auto& body = ir::find(out, place)->scope().body;
    auto& more = second.scope().body;
    body.insert(body.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
    return out;
  }

  Trace inverse(const State& before, const std::vector<Arg>& args,
                const ir::Program&) const override {
    const ir::Scope* first = scopeAt(before.program(), placeArg(args, 0));
    return {Move{"fission_scope", {args[0], static_cast<std::int64_t>(first->body.size())}}};
  }
};

}  // namespace

const Rule& joinScopes() {
  static const JoinScopes rule;
  return rule;
}

}  // namespace dojo::moves::rules
