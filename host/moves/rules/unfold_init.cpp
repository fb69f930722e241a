// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/rule.h"
#include "moves/rules/edits.h"
#include "moves/rules/partials.h"

namespace dojo::moves::rules {

namespace {

class UnfoldInit : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo out = {
        "unfold_init",
        "computation",
        {{"P", ArgKind::place}, {"op", ArgKind::name, true}},
        "The leaf `d = e` at P becomes `d = identity` and a reduction of e into d: op is add (the "
        "default), mul, max, min or fma.",
        "e doesn't read d; the operator works on d's dtype; fma: e is a product of floats.",
        "fold_init",
        R"(kernel k
in x f32 [64]
out y f32 []

1
| y[] = exp(x[{0}])
63
| y[] += exp(x[{0} + 1])
)",
        "unfold_init @0.0 add",
        R"(kernel k
in x f32 [64]
out y f32 []

1
| y[] = 0
| y[] += exp(x[{0}])
63
| y[] += exp(x[{0} + 1])
)"};
    return out;
  }

  /// Offers what a kernel may have been before fold_init: sums of computed values.
  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (!place.node->isLeaf() || place.node->leaf().isReduction()) return;
    if (place.node->leaf().op == ir::Op::copy) return;
    for (const ir::Assign assign : {ir::Assign::add, ir::Assign::fma}) {
      if (suits(state, place.node->leaf(), assign)) {
        out.push_back({place.path, std::string(nameOf(assign))});
      }
    }
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    const ir::Node& node = *ir::find(state.program(), place);
    if (!node.isLeaf() || node.leaf().isReduction()) {
      return refuse("move.shape", "a leaf `d = e` was expected", place);
    }
    const std::optional<ir::Assign> assign = assignOf(args);
    if (!assign) {
      return refuse("move.arguments", "the operator is add, mul, max, min or fma, not '" +
                                          *optionalText(args, 1) + "'");
    }
    if (!suits(state, node.leaf(), *assign)) {
      return refuse("move.shape", "this leaf can't become such a reduction", place);
    }
    return readsNot(state, place, node.leaf());
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    ir::Program out = state.program();
    ir::Node& node = *ir::find(out, place);
    ir::Leaf init;
    init.dst = node.leaf().dst;
    init.operands = {identityOf(*assignOf(args), out.buffer(init.dst.buffer).dtype)};
    ir::Node first = std::move(init);
    first.guard = node.guard;
    node.leaf().assign = *assignOf(args);
    insert(out, place, std::move(first));
    return out;
  }

  [[nodiscard]] Trace inverse(const State& /*before*/, const std::vector<Arg>& args,
                              const ir::Program& /*after*/) const override {
    return {makeMove("fold_init", {args[0]})};
  }

 private:
  static std::optional<ir::Assign> assignOf(const std::vector<Arg>& args) {
    const std::string name = optionalText(args, 1).value_or("add");
    for (const ir::Assign assign :
         {ir::Assign::add, ir::Assign::mul, ir::Assign::max, ir::Assign::min, ir::Assign::fma}) {
      if (name == nameOf(assign)) return assign;
    }
    return std::nullopt;
  }

  static bool suits(const State& state, const ir::Leaf& leaf, ir::Assign assign) {
    const ir::DType type = state.program().buffer(leaf.dst.buffer).dtype;
    if (type == ir::DType::boolean) return false;
    return assign != ir::Assign::fma || (leaf.op == ir::Op::mul && ir::isFloat(type));
  }
};

}  // namespace

const Rule& unfoldInit() {
  static const UnfoldInit rule;
  return rule;
}

}  // namespace dojo::moves::rules
