// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/canonical.h"
#include "moves/clause.h"
#include "moves/rule.h"
#include "moves/rules/edits.h"
#include "moves/rules/producer.h"

namespace dojo::moves::rules {

namespace {

class UnfoldCopy : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo out = {
        "unfold_copy",
        "computation",
        {{"P", ArgKind::place}, {"decl", ArgKind::text, true}, {"access", ArgKind::text, true}},
        "The leaf `B = op` (or `B += op` ...) at P becomes `a = op` and `B = a`. a is a new tmp "
        "without storage in a register, or what the texts say: its declaration (\"\" for a tmp "
        "that exists) and the element.",
        "Not a contracted product; a given element holds no value that is read later.",
        "fold_copy",
        R"(kernel k
in x f32 [64]
out y f32 [64]

64
| y[{0}] = exp(x[{0}])
)",
        "unfold_copy @0.0",
        R"(kernel k
in x f32 [64]
out y f32 [64]
tmp t0 f32 [~64] @register

64
| t0[{0}] = exp(x[{0}])
| y[{0}] = t0[{0}]
)"};
    return out;
  }

  /// Copies are not offered: there is no use in copying twice.
  void choices(const State& /*state*/, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (place.node->isLeaf() && place.node->leaf().op != ir::Op::copy) out.push_back({place.path});
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    const ir::Node& node = *ir::find(state.program(), place);
    if (!node.isLeaf()) return refuse("move.shape", "a leaf was expected, not a scope", place);
    DOJO_NEEDS(node.leaf().assign != ir::Assign::fma,
               refuse("move.shape",
                      "a contracted product is not rounded by itself: expand_fma first", place));
    if (args.size() == 1 && !state.target().offersLocation("register")) {
      return refuse("move.location", "the target has no registers for a new value", place);
    }
    Result<ir::Program> result = unfolded(state, args);
    if (!result) return result.error();
    if (args.size() == 1) return {};
    // What the texts say is good where folding gives this program again.
    ir::canonicalize(*result);
    const State after(std::move(*result), state.target());
    const Rule& fold = *findRule("fold_copy");
    if (Status status = fold.check(after, {place}); !status) return status;
    ir::Program again = fold.rewrite(after, {place});
    ir::canonicalize(again);
    if (again == state.program()) return {};
    return refuse("move.text", "the texts describe a value that doesn't belong here", place);
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    return unfolded(state, args).value();
  }

  [[nodiscard]] Trace inverse(const State& /*before*/, const std::vector<Arg>& args,
                              const ir::Program& /*after*/) const override {
    return {makeMove("fold_copy", {args[0]})};
  }

 private:
  static Result<ir::Program> unfolded(const State& state, const std::vector<Arg>& args) {
    const ir::Path& place = placeArg(args, 0);
    Result<Room> room = makeRoom(state, place, args, 1);
    if (!room) return room.error();
    ir::Leaf& maker = ir::find(room->program, place)->leaf();
    ir::Leaf& user = ir::find(room->program, sibling(place, 1))->leaf();
    maker.op = user.op;
    maker.operands = user.operands;
    user.op = ir::Op::copy;
    user.operands = {room->value};
    return std::move(room->program);
  }
};

}  // namespace

const Rule& unfoldCopy() {
  static const UnfoldCopy rule;
  return rule;
}

}  // namespace dojo::moves::rules
