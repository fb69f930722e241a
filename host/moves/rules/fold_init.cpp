// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>

#include "moves/clause.h"
#include "moves/rule.h"
#include "moves/rules/edits.h"
#include "moves/rules/partials.h"

namespace dojo::moves::rules {

namespace {

class FoldInit : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo out = {
        "fold_init",
        "computation",
        {{"P", ArgKind::place}},
        "The leaf `d = identity` at P and the next one, `d += e` (or another reduction with that "
        "identity), become `d = e`.",
        "The same element under the same guard, which e doesn't read.",
        "unfold_init",
        R"(kernel k
in x f32 [64]
out y f32 []

1
| y[] = 0
| y[] += x[{0}]
63
| y[] += x[{0} + 1]
)",
        "fold_init @0.0",
        R"(kernel k
in x f32 [64]
out y f32 []

1
| y[] = x[{0}]
63
| y[] += x[{0} + 1]
)"};
    return out;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (reductionAfter(state, place.path) != nullptr) out.push_back({place.path});
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    const ir::Leaf* update = reductionAfter(state, place);
    if (update == nullptr) {
      return refuse("move.shape",
                    "a leaf `d = identity` and next to it a reduction into the same element with "
                    "that identity were expected",
                    place);
    }
    return readsNot(state, sibling(place, 1), *update);
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    ir::Program out = state.program();
    ir::find(out, sibling(placeArg(args, 0), 1))->leaf().assign = ir::Assign::set;
    static_cast<void>(extract(out, placeArg(args, 0)));
    return out;
  }

  [[nodiscard]] Trace inverse(const State& before, const std::vector<Arg>& args,
                              const ir::Program& /*after*/) const override {
    const ir::Assign assign = reductionAfter(before, placeArg(args, 0))->assign;
    return {makeMove("unfold_init", {args[0], std::string(nameOf(assign))})};
  }

 private:
  /// The reduction that follows its identity at `place`, or nullptr.
  static const ir::Leaf* reductionAfter(const State& state, const ir::Path& place) {
    const ir::Node* init = ir::find(state.program(), place);
    const ir::Node* update = ir::find(state.program(), sibling(place, 1));
    if (!init->isLeaf() || update == nullptr || !update->isLeaf()) return nullptr;
    const ir::Leaf& first = init->leaf();
    const ir::Leaf& second = update->leaf();
    if (first.isReduction() || first.op != ir::Op::copy || !second.isReduction()) return nullptr;
    if (!DOJO_CLAUSE(first.dst == second.dst) || !DOJO_CLAUSE(init->guard == update->guard)) {
      return nullptr;
    }
    const auto* constant = std::get_if<ir::Constant>(&first.operands[0]);
    if (constant == nullptr) return nullptr;
    const ir::DType type = state.program().buffer(first.dst.buffer).dtype;
    const ir::Constant identity = identityOf(second.assign, type);
    if (!DOJO_CLAUSE(*constant == identity)) return nullptr;
    // A negative zero would not come back from the text of the identity.
    const auto* value = std::get_if<double>(constant);
    return value != nullptr && *value == 0 && std::signbit(*value) ? nullptr : &second;
  }
};

}  // namespace

const Rule& foldInit() {
  static const FoldInit rule;
  return rule;
}

}  // namespace dojo::moves::rules
