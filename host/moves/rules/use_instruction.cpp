// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <string>

#include "base/text.h"
#include "ir/instruction.h"
#include "moves/arguments.h"
#include "moves/clause.h"
#include "moves/instructions.h"
#include "moves/rule.h"

namespace dojo::moves::rules {

namespace {

class UseInstruction final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "use_instruction",
        .group = "computation",
        .parameters = {{"P", ArgKind::place}, {"NAME", ArgKind::name}},
        .effect =
            "What P does is done by the instruction NAME of the target: P becomes `!NAME(...)` on "
            "boxes of elements, in which the variables from P's depth on are positions.",
        .needs =
            "P is the instruction's fragment, scope for scope and operation for operation, up to "
            "the order of commutative operands and to which elements they are; what it writes is "
            "nothing else of it. Operands in memory are runs without gaps, and those that are one "
            "word in a register begin at a multiple of its size. No scope around is a vector, a "
            "stream or repeated by hardware.",
        .inverse = "expand_instruction",
        .before = R"(kernel k
in a i8 [64]
in b i8 [64]
out c i32 []

c[] = 0
16
| 4
| | c[] += a[{0}*4 + {1}] * b[{0}*4 + {1}]
)",
        .move = "use_instruction @1.0 dot4",
        .after = R"(kernel k
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
)"};
    return info;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (place.node->instruction >= 0) return;
    const auto depth = static_cast<int>(place.enclosing.size());
    for (const target::VendorInstruction& vendor : state.target().instructions) {
      if (ir::boxesOf(state.program(), vendor.fragment, *place.node, depth)) {
        out.push_back({place.path, vendor.name});
      }
    }
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    const std::string& name = textArg(args, 1);
    const target::VendorInstruction* vendor = state.target().instruction(name);
    if (vendor == nullptr) {
      std::vector<std::string> known;
      for (const auto& each : state.target().instructions) known.push_back(each.name);
      return refuse("move.target",
                    "target " + state.target().name + " has no instruction '" + name + "'" +
                        didYouMean(name, known),
                    place);
    }
    const ir::Visit& visit = *state.visit(place);
    if (visit.node->instruction >= 0) {
      return refuse("move.instruction", "an instruction stands here already", place);
    }
    for (const ir::Instruction& other : state.program().instructions) {
      if (other.name == name && !(other == vendor->fragment)) {
        return refuse("move.instruction", "the program has another instruction of the name " + name,
                      place);
      }
    }
    Status status =
        usable(state.program(), vendor->fragment, state.target(), *visit.node, visit.enclosing);
    if (status) return status;
    Error error = status.error();
    error.where = ir::toString(place);
    return error;
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    const std::string& name = textArg(args, 1);
    ir::Program out = state.program();
    auto found = std::find_if(out.instructions.begin(), out.instructions.end(),
                              [&](const ir::Instruction& each) { return each.name == name; });
    if (found == out.instructions.end()) {
      found = out.instructions.insert(found, state.target().instruction(name)->fragment);
    }
    ir::find(out, placeArg(args, 0))->instruction =
        static_cast<int>(found - out.instructions.begin());
    return out;
  }

  Trace inverse(const State&, const std::vector<Arg>& args, const ir::Program&) const override {
    return {Move{"expand_instruction", {args[0]}}};
  }
};

}  // namespace

const Rule& useInstruction() {
  static const UseInstruction rule;
  return rule;
}

}  // namespace dojo::moves::rules
