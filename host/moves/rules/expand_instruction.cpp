// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/arguments.h"
#include "moves/rule.h"

namespace dojo::moves::rules {

namespace {

class ExpandInstruction final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "expand_instruction",
        .group = "computation",
        .parameters = {{"P", ArgKind::place}},
        .effect = "The instruction at P becomes the scopes and operations that it stands for.",
        .needs = "P is an instruction, of this target.",
        .inverse = "use_instruction",
        .before = R"(kernel k
in a i8 [64]
in b i8 [64]
out c i32 []
instruction dot4
| inout acc i32 []
| in x i8 [4]
| in y i8 [4]
| 4
| | acc[] += x[{0}] * y[{0}]

c[] = 0
16
| !dot4(c[], a[{0}*4 + {1}], b[{0}*4 + {1}])
)",
        .move = "expand_instruction @1.0",
        .after = R"(kernel k
in a i8 [64]
in b i8 [64]
out c i32 []

c[] = 0
16
| 4
| | c[] += a[{0}*4 + {1}] * b[{0}*4 + {1}]
)"};
    return info;
  }

  void choices(const State&, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (place.node->instruction >= 0) out.push_back({place.path});
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    const ir::Node& node = *state.visit(place)->node;
    if (node.instruction < 0) {
      return refuse("move.instruction", "no instruction stands here", place);
    }
    const ir::Instruction& instruction = instructionOf(state, node);
    const target::VendorInstruction* vendor = state.target().instruction(instruction.name);
    if (vendor == nullptr || !(vendor->fragment == instruction)) {
      return refuse("move.target",
                    "target " + state.target().name + " has no such instruction " +
                        instruction.name + ", so there would be no way back",
                    place);
    }
    return {};
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    ir::Program out = state.program();
    ir::find(out, placeArg(args, 0))->instruction = -1;
    return out;
  }

  Trace inverse(const State& before, const std::vector<Arg>& args,
                const ir::Program&) const override {
    const ir::Node& node = *before.visit(placeArg(args, 0))->node;
    return {Move{"use_instruction", {args[0], instructionOf(before, node).name}}};
  }

 private:
  static const ir::Instruction& instructionOf(const State& state, const ir::Node& node) {
    return state.program().instructions[static_cast<std::size_t>(node.instruction)];
  }
};

}  // namespace

const Rule& expandInstruction() {
  static const ExpandInstruction rule;
  return rule;
}

}  // namespace dojo::moves::rules
