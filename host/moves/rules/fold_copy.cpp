// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/rule.h"
#include "moves/rules/edits.h"
#include "moves/rules/producer.h"

namespace dojo::moves::rules {

namespace {

class FoldCopy : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo out = {
        "fold_copy",
        "computation",
        {{"P", ArgKind::place}},
        "The leaf `a = op` at P and the next one, `B = a` (or `B += a` ...), become `B = op`.",
        "a is an element of a tmp of B's dtype and dead after.",
        "unfold_copy",
        R"(kernel k
in x f32 [64]
out y f32 [64]
tmp t f32 [~64]

64
| t[{0}] = exp(x[{0}])
| y[{0}] = t[{0}]
)",
        "fold_copy @0.0",
        R"(kernel k
in x f32 [64]
out y f32 [64]

64
| y[{0}] = exp(x[{0}])
)"};
    return out;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    const ir::Node* next = ir::find(state.program(), sibling(place.path, 1));
    if (place.node->isLeaf() && next != nullptr && next->isLeaf() &&
        next->leaf().op == ir::Op::copy) {
      out.push_back({place.path});
    }
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    if (producerAt(state, placeArg(args, 0))) return {};
    return refuse("move.shape",
                  "a leaf `a = op` and next to it `B = a` were expected, where a is a tmp that "
                  "nothing else reads",
                  placeArg(args, 0));
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    const Producer producer = *producerAt(state, placeArg(args, 0));
    ir::Program out = state.program();
    ir::Leaf& user = ir::find(out, sibling(producer.place, 1))->leaf();
    user.op = producer.leaf->op;
    user.operands = producer.leaf->operands;
    static_cast<void>(extract(out, producer.place));
    return out;
  }

  [[nodiscard]] Trace inverse(const State& before, const std::vector<Arg>& args,
                              const ir::Program& /*after*/) const override {
    const Producer producer = *producerAt(before, placeArg(args, 0));
    std::vector<Arg> back = describeValue(before, producer);
    back.insert(back.begin(), producer.place);
    return {makeMove("unfold_copy", std::move(back))};
  }

 private:
  static std::optional<Producer> producerAt(const State& state, const ir::Path& place) {
    const ir::Path next = sibling(place, 1);
    const ir::Node* user = ir::find(state.program(), next);
    if (user == nullptr || !user->isLeaf() || user->leaf().op != ir::Op::copy) return std::nullopt;
    return producerFor(state, next);
  }
};

}  // namespace

const Rule& foldCopy() {
  static const FoldCopy rule;
  return rule;
}

}  // namespace dojo::moves::rules
