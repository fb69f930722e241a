// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/clause.h"
#include "moves/rule.h"
#include "moves/rules/edits.h"
#include "moves/rules/producer.h"

namespace dojo::moves::rules {

namespace {

class ContractFma : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo out = {
        "contract_fma",
        "computation",
        {{"P", ArgKind::place}},
        "The product at P is no longer rounded before it is added: `c += a * b` becomes "
        "`c fma+= a * b`, as do `t = a * b` and after it `c += t` at P; `t = a * b` and after it "
        "`d = t + c` at P become `d = fma(a, b, c)`.",
        "Floats of one dtype; t has no other use; the result reaches no comparison and no integer.",
        "expand_fma",
        R"(kernel k
in a f32 [64]
in b f32 [64]
out c f32 []

c[] = 0
64
| c[] += a[{0}] * b[{0}]
)",
        "contract_fma @1.0",
        R"(kernel k
in a f32 [64]
in b f32 [64]
out c f32 []

c[] = 0
64
| c[] fma+= a[{0}] * b[{0}]
)"};
    return out;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (!place.node->isLeaf()) return;
    const ir::Leaf& leaf = place.node->leaf();
    if (ir::isFloat(state.program().buffer(leaf.dst.buffer).dtype) &&
        (leaf.assign == ir::Assign::add || leaf.op == ir::Op::add)) {
      out.push_back({place.path});
    }
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    if (formOf(state, place) == Form::none) {
      return refuse("move.shape",
                    "a leaf of floats `c += a * b` was expected, or `c += t` or `d = t + c` right "
                    "after `t = a * b`, whose only use it is",
                    place);
    }
    DOJO_NEEDS(!state.reachesDecision(ir::find(state.program(), place)->leaf().dst.buffer),
               refuse("move.numbers",
                      "the result decides a comparison or becomes an integer: its rounding may not "
                      "change",
                      place));
    return {};
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    ir::Program out = state.program();
    ir::Leaf& leaf = ir::find(out, place)->leaf();
    const Form form = formOf(state, place);
    if (form == Form::leaf) {
      leaf.assign = ir::Assign::fma;
      return out;
    }
    const Producer product = *producerFor(state, place);
    if (form == Form::sum) {
      leaf.assign = ir::Assign::fma;
      leaf.op = ir::Op::mul;
      leaf.operands = product.leaf->operands;
    } else {
      const ir::Operand addend = leaf.operands[1 - product.operand];
      leaf.op = ir::Op::fma;
      leaf.operands = product.leaf->operands;
      leaf.operands.push_back(addend);
    }
    static_cast<void>(extract(out, product.place));
    return out;
  }

  [[nodiscard]] Trace inverse(const State& before, const std::vector<Arg>& args,
                              const ir::Program& /*after*/) const override {
    const ir::Path& place = placeArg(args, 0);
    if (formOf(before, place) == Form::leaf) return {makeMove("expand_fma", {place})};
    const Producer product = *producerFor(before, place);
    std::vector<Arg> back = describeValue(before, product);
    back.insert(back.begin(), product.place);
    return {makeMove("expand_fma", std::move(back))};
  }

 private:
  enum class Form : std::uint8_t { none, leaf, sum, add };

  static Form formOf(const State& state, const ir::Path& place) {
    const ir::Node& node = *ir::find(state.program(), place);
    if (!node.isLeaf()) return Form::none;
    const ir::Leaf& leaf = node.leaf();
    if (!ir::isFloat(state.program().buffer(leaf.dst.buffer).dtype)) return Form::none;
    if (leaf.assign == ir::Assign::add && leaf.op == ir::Op::mul) return Form::leaf;
    const bool sum = leaf.assign == ir::Assign::add && leaf.op == ir::Op::copy;
    const bool add = leaf.op == ir::Op::add;
    if (!sum && !add) return Form::none;
    const std::optional<Producer> product = producerFor(state, place);
    if (!product || product->leaf->op != ir::Op::mul) return Form::none;
    return sum ? Form::sum : Form::add;
  }
};

}  // namespace

const Rule& contractFma() {
  static const ContractFma rule;
  return rule;
}

}  // namespace dojo::moves::rules
