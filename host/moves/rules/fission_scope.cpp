// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <string>
#include <utility>

#include "ir/check.h"
#include "moves/arguments.h"
#include "moves/clause.h"
#include "moves/order.h"
#include "moves/rule.h"

namespace dojo::moves::rules {

namespace {

bool hasRows(const ir::Node& node) {
  if (node.isLeaf()) return false;
  const std::vector<ir::Node>& body = node.scope().body;
  return !node.scope().extent.isConstant() || std::any_of(body.begin(), body.end(), hasRows);
}

class FissionScope final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "fission_scope",
        .group = "structure",
        .parameters = {{"P", ArgKind::place}, {"k", ArgKind::number}},
        .effect =
            "The scope P becomes two siblings: one with its first k children, one with the "
            "others. Both keep extent, guard and mapping.",
        .needs =
            "0 < k < number of children; no dependence is reversed: nothing that the other "
            "children do in one iteration is needed by the first k in a later one.",
        .inverse = "join_scopes",
        .before = R"(kernel two_steps
in x f32 [64]
out y f32 [64]
tmp t f32 [64]

64
| t[{0}] = exp(x[{0}])
| y[{0}] = t[{0}] * 3
)",
        .move = "fission_scope @0 1",
        .after = R"(kernel two_steps
in x f32 [64]
out y f32 [64]
tmp t f32 [64]

64
| t[{0}] = exp(x[{0}])
64
| y[{0}] = t[{0}] * 3
)"};
    return info;
  }

  void choices(const State&, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (!place.node->isScope()) return;
    const auto count = static_cast<std::int64_t>(place.node->scope().body.size());
    for (std::int64_t k = 1; k < count; ++k) out.push_back({place.path, k});
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    const std::int64_t k = numberArg(args, 1);
    if (Status status = needsScope(state, place); !status) return status;
    const auto count = static_cast<std::int64_t>(state.visit(place)->node->scope().body.size());
    if (k < 1 || k >= count) {
      return refuse("move.shape",
                    "the scope has " + std::to_string(count) + " children, so that " +
                        std::to_string(k) + " is not a place to split between them",
                    place);
    }
    const Block first{place, 0, static_cast<int>(k)};
    const Block second{place, static_cast<int>(k), static_cast<int>(count)};
    std::vector<const ir::Site*> early;
    std::vector<const ir::Site*> late;
    for (const ir::Site* site : state.accesses().below(place)) {
      if (first.contains(site->path)) early.push_back(site);
      if (second.contains(site->path)) late.push_back(site);
    }
    const auto reversal =
        findReversal(state, early, late, ir::equalThen(depthOf(place), {ir::Relation::greater}),
                     {first, second});
    DOJO_NEEDS(!reversal, dependenceError(state, *reversal, place));
    // Of rows that data decides, one scope may show what two don't: which of them are empty.
    if (hasRows(*state.visit(place)->node)) {
      DOJO_NEEDS(
          ir::check(rewrite(state, args)).ok(),
          refuse("move.unwritten",
                 "in two scopes it can't be decided whether what is read has a value", place));
    }
    return {};
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    ir::Program out = state.program();
    ir::Node& first = *ir::find(out, place);
    ir::Node second = first;
    const auto k = numberArg(args, 1);
    auto& early = first.scope().body;
    auto& late = second.scope().body;
    early.erase(early.begin() + k, early.end());
    late.erase(late.begin(), late.begin() + k);
    insert(out, sibling(place, 1), std::move(second));
    return out;
  }

  Trace inverse(const State&, const std::vector<Arg>& args, const ir::Program&) const override {
    return {Move{"join_scopes", {args[0]}}};
  }
};

}  // namespace

const Rule& fissionScope() {
  static const FissionScope rule;
  return rule;
}

}  // namespace dojo::moves::rules
