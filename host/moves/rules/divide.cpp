// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/canonical.h"
#include "moves/clause.h"
#include "moves/rule.h"
#include "moves/rules/edits.h"
#include "moves/rules/reciprocal.h"

namespace dojo::moves::rules {

namespace {

struct Divided {
  ir::Program program;
  Trace back;
};

class Divide : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo out = {
        "divide",
        "computation",
        {{"P", ArgKind::place}, {"T", ArgKind::buffer}},
        "The multiplication at P by the tmp T, which is 1 / s, becomes a division by s; T goes.",
        "T has the form that reciprocal gives it.",
        "reciprocal",
        R"(kernel k
in x f32 [64]
in s f32 []
out y f32 [64]
tmp t0 f32 [] @register

t0[] = 1 / s[]
64
| y[{0}] = x[{0}] * t0[]
)",
        "divide @1.0 t0",
        R"(kernel k
in x f32 [64]
in s f32 []
out y f32 [64]

64
| y[{0}] = x[{0}] / s[]
)"};
    return out;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (!place.node->isLeaf() || place.node->leaf().op != ir::Op::mul) return;
    for (const ir::Operand& operand : place.node->leaf().operands) {
      const auto* access = std::get_if<ir::Access>(&operand);
      if (access == nullptr || state.program().buffer(access->buffer).isArgument()) continue;
      out.push_back({place.path, state.program().buffer(access->buffer).name});
    }
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    if (divided(state, args)) return {};
    return refuse("move.shape",
                  "a product with a tmp was expected that is 1 / s as reciprocal computes it",
                  placeArg(args, 0));
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    return divided(state, args)->program;
  }

  [[nodiscard]] Trace inverse(const State& before, const std::vector<Arg>& args,
                              const ir::Program& /*after*/) const override {
    return divided(before, args)->back;
  }

 private:
  static std::optional<Divided> divided(const State& state, const std::vector<Arg>& args) {
    const ir::Path& place = placeArg(args, 0);
    const ir::BufferId id = bufferArg(state, args, 1);
    const ir::Node& node = *ir::find(state.program(), place);
    if (!node.isLeaf() || node.leaf().op != ir::Op::mul) return std::nullopt;
    if (node.leaf().assign == ir::Assign::fma) return std::nullopt;
    const ir::Site* inverse = nullptr;
    for (const ir::Site* site : state.accesses().of(id)) {
      if (site->touch != ir::Touch::write) continue;
      if (inverse != nullptr) return std::nullopt;
      inverse = site;
    }
    if (inverse == nullptr || !inverse->node->isLeaf()) return std::nullopt;
    const ir::Leaf& quotient = inverse->node->leaf();
    if (quotient.op != ir::Op::div || inverse->path.size() >= place.size()) return std::nullopt;

    Divided out{state.program(), {}};
    ir::Leaf& leaf = ir::find(out.program, place)->leaf();
    const auto isValue = [&](const ir::Operand& operand) {
      const auto* access = std::get_if<ir::Access>(&operand);
      return access != nullptr && access->buffer == id;
    };
    if (isValue(leaf.operands[0])) std::swap(leaf.operands[0], leaf.operands[1]);
    if (!isValue(leaf.operands[1])) return std::nullopt;
    leaf.op = ir::Op::div;
    leaf.operands[1] = quotient.operands[1];
    static_cast<void>(extract(out.program, inverse->path));
    ir::canonicalize(out.program);

    // The way back must give this program again.
    ir::Path before = place;
    const std::size_t level = inverse->path.size() - 1;
    if (before[level] == 0) return std::nullopt;
    --before[level];
    const std::string& name = state.program().buffer(id).name;
    if (out.program.find(name)) return std::nullopt;
    const State without(out.program, state.target());
    const ir::Node* found = ir::find(out.program, before);
    if (found == nullptr) return std::nullopt;
    const Result<ReciprocalPlan> plan = planReciprocal(without, before);
    if (!plan) return std::nullopt;
    ir::Program again = applyReciprocal(without, *plan, name);
    ir::canonicalize(again);
    if (!DOJO_CLAUSE(again == state.program())) return std::nullopt;
    std::vector<Arg> back = {before};
    if (name != out.program.freshName()) back.emplace_back(name);
    out.back.push_back(makeMove("reciprocal", std::move(back)));
    return out;
  }
};

}  // namespace

const Rule& divide() {
  static const Divide rule;
  return rule;
}

}  // namespace dojo::moves::rules
