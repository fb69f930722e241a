// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/canonical.h"
#include "moves/clause.h"
#include "moves/rule.h"
#include "moves/rules/edits.h"
#include "moves/rules/producer.h"

namespace dojo::moves::rules {

namespace {

class ExpandFma : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo out = {
        "expand_fma",
        "computation",
        {{"P", ArgKind::place}, {"decl", ArgKind::text, true}, {"access", ArgKind::text, true}},
        "The product at P is rounded before it is added: `c fma+= a * b` becomes `c += a * b`; "
        "`d = fma(a, b, c)` becomes `t = a * b` and `d = t + c`, t a new tmp without storage in a "
        "register. With texts, the declaration of a tmp (\"\" where it exists) and its element, "
        "both become `t = a * b` and what adds t.",
        "The result reaches no comparison and no integer; a given element holds no value that is "
        "read later.",
        "contract_fma",
        R"(kernel k
in a f32 [64]
in b f32 [64]
out c f32 [64]

64
| c[{0}] = fma(a[{0}], b[{0}], 1)
)",
        "expand_fma @0.0",
        R"(kernel k
in a f32 [64]
in b f32 [64]
out c f32 [64]
tmp t0 f32 [~64] @register

64
| t0[{0}] = a[{0}] * b[{0}]
| c[{0}] = t0[{0}] + 1
)"};
    return out;
  }

  void choices(const State& /*state*/, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (place.node->isLeaf() && contracted(place.node->leaf())) out.push_back({place.path});
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    const ir::Node& node = *ir::find(state.program(), place);
    if (!node.isLeaf() || !contracted(node.leaf())) {
      return refuse("move.shape", "a leaf `c fma+= a * b` or `d = fma(a, b, c)` was expected",
                    place);
    }
    const ir::BufferId dst = node.leaf().dst.buffer;
    if (!ir::isFloat(state.program().buffer(dst).dtype)) {
      return refuse("move.shape", "only floats are contracted", place);
    }
    DOJO_NEEDS(!state.reachesDecision(dst),
               refuse("move.numbers",
                      "the result decides a comparison or becomes an integer: its rounding may not "
                      "change",
                      place));
    const bool inPlace = args.size() == 1 && node.leaf().assign == ir::Assign::fma;
    if (!inPlace && args.size() == 1 && !state.target().offersLocation("register")) {
      return refuse("move.location", "the target has no registers for a new value", place);
    }
    Result<ir::Program> result = expanded(state, args);
    if (!result) return result.error();
    if (args.size() == 1) return {};
    // What the texts say is good where contracting gives this program again.
    ir::canonicalize(*result);
    const State after(std::move(*result), state.target());
    const Rule& contract = *findRule("contract_fma");
    if (Status status = contract.check(after, {sibling(place, 1)}); !status) return status;
    ir::Program again = contract.rewrite(after, {sibling(place, 1)});
    ir::canonicalize(again);
    if (again == state.program()) return {};
    return refuse("move.text", "the texts describe a value that doesn't belong here", place);
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    return expanded(state, args).value();
  }

  [[nodiscard]] Trace inverse(const State& before, const std::vector<Arg>& args,
                              const ir::Program& /*after*/) const override {
    const ir::Path& place = placeArg(args, 0);
    const ir::Leaf& leaf = ir::find(before.program(), place)->leaf();
    const bool inPlace = args.size() == 1 && leaf.assign == ir::Assign::fma;
    return {makeMove("contract_fma", {inPlace ? place : sibling(place, 1)})};
  }

 private:
  static bool contracted(const ir::Leaf& leaf) {
    return leaf.assign == ir::Assign::fma || leaf.op == ir::Op::fma;
  }

  static Result<ir::Program> expanded(const State& state, const std::vector<Arg>& args) {
    const ir::Path& place = placeArg(args, 0);
    const bool sum = ir::find(state.program(), place)->leaf().assign == ir::Assign::fma;
    if (sum && args.size() == 1) {
      ir::Program out = state.program();
      ir::find(out, place)->leaf().assign = ir::Assign::add;
      return out;
    }
    Result<Room> room = makeRoom(state, place, args, 1);
    if (!room) return room.error();
    ir::Leaf& product = ir::find(room->program, place)->leaf();
    ir::Leaf& user = ir::find(room->program, sibling(place, 1))->leaf();
    product.op = ir::Op::mul;
    product.operands = {user.operands[0], user.operands[1]};
    if (sum) {
      user.assign = ir::Assign::add;
      user.op = ir::Op::copy;
      user.operands = {room->value};
    } else {
      user.op = ir::Op::add;
      user.operands = {room->value, user.operands[2]};
    }
    return std::move(room->program);
  }
};

}  // namespace

const Rule& expandFma() {
  static const ExpandFma rule;
  return rule;
}

}  // namespace dojo::moves::rules
