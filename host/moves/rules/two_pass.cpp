// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <iterator>

#include "ir/canonical.h"
#include "moves/rule.h"
#include "moves/rules/edits.h"
#include "moves/rules/rescale.h"

namespace dojo::moves::rules {

namespace {

struct Separated {
  ir::Program program;
  Trace back;
};

/// The leaf `tmp = ...` among the children from `first` on, or -1.
int leafThatSets(const std::vector<ir::Node>& body, int first, ir::BufferId buffer) {
  for (auto i = static_cast<std::size_t>(first); i < body.size(); ++i) {
    if (body[i].isLeaf() && body[i].leaf().dst.buffer == buffer) return static_cast<int>(i);
  }
  return -1;
}

class TwoPass : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo out = {
        "two_pass",
        "computation",
        {{"P", ArgKind::place}},
        "The scope P, in which sums of exponentials are rescaled whenever the maximum has grown, "
        "becomes two: the first takes the maximum, the second sums up.",
        "P has the form that online_rescale gives it.",
        "online_rescale",
        R"(kernel k
in x f32 [64]
out s f32 []
tmp m f32 []
tmp t0 f32 [~64] @register
tmp t1 f32 [~64] @register
tmp e f32 [~64] @register
tmp t2 f32 [] @register

m[] = -inf
s[] = 0
64
| t0[{0}] = m[]
| m[] max= x[{0}]
| t1[{0}] = max(m[], -3.4028235e38)
| t0[{0}] = t0[{0}] - t1[{0}]
| t0[{0}] = exp(t0[{0}])
| s[] = s[] * t0[{0}]
| e[{0}] = x[{0}] - t1[{0}]
| e[{0}] = exp(e[{0}])
| s[] += e[{0}]
t2[] = m[] - m[]
s[] += t2[]
)",
        "two_pass @2",
        R"(kernel k
in x f32 [64]
out s f32 []
tmp m f32 []
tmp e f32 [~64] @register

m[] = -inf
s[] = 0
64
| m[] max= x[{0}]
64
| e[{0}] = x[{0}] - m[]
| e[{0}] = exp(e[{0}])
| s[] += e[{0}]
)"};
    return out;
  }

  void choices(const State& /*state*/, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (!place.node->isScope()) return;
    const auto& body = place.node->scope().body;
    const bool remembers = !body.empty() && body[0].isLeaf() && body[0].leaf().op == ir::Op::copy &&
                           !body[0].leaf().isReduction();
    if (remembers && leafThatSets(body, 1, body[0].leaf().dst.buffer) > 0) {
      out.push_back({place.path});
    }
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    if (separated(state, placeArg(args, 0))) return {};
    return refuse("move.shape", "a scope as online_rescale makes it was expected",
                  placeArg(args, 0));
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    return separated(state, placeArg(args, 0))->program;
  }

  [[nodiscard]] Trace inverse(const State& before, const std::vector<Arg>& args,
                              const ir::Program& /*after*/) const override {
    return separated(before, placeArg(args, 0))->back;
  }

 private:
  static std::optional<Separated> separated(const State& state, const ir::Path& place) {
    const ir::Program& program = state.program();
    const ir::Scope* scope = scopeAt(program, place);
    if (scope == nullptr || scope->body.empty() || !scope->body[0].isLeaf()) return std::nullopt;
    const ir::Leaf& remembered = scope->body[0].leaf();
    if (remembered.op != ir::Op::copy) return std::nullopt;
    const auto* maximum = std::get_if<ir::Access>(&remembered.operands[0]);
    if (maximum == nullptr) return std::nullopt;
    const ir::BufferId factor = remembered.dst.buffer;
    const int difference = leafThatSets(scope->body, 1, factor);
    if (difference < 3) return std::nullopt;
    const ir::Node& limited = scope->body[static_cast<std::size_t>(difference) - 1];
    if (!limited.isLeaf()) return std::nullopt;
    const ir::BufferId reference = limited.leaf().dst.buffer;
    const ir::Path after = sibling(place, 1);
    const ir::Node* check = ir::find(program, after);
    if (check == nullptr || !check->isLeaf()) return std::nullopt;
    const ir::BufferId zero = check->leaf().dst.buffer;

    Separated out{program, {}};
    // After the scope: the check and the sums that it goes into, as many as are rescaled.
    std::vector<ir::Node>& body = bodyOf(out.program, place);
    auto last = body.begin() + difference + 1;
    int sums = -1;
    for (; last != body.end() && ir::mentionsBuffer(*last, factor); ++last) ++sums;
    ir::Scope second;
    second.extent = scope->extent;
    std::move(last, body.end(), std::back_inserter(second.body));
    if (second.body.empty()) return std::nullopt;
    body.erase(body.begin() + difference - 1, body.end());
    body.erase(body.begin());
    ir::Node next = std::move(second);
    ir::forEachAccessMutable(next, [&](ir::Access& access) {
      if (access.buffer == reference) access = *maximum;
    });
    for (int i = 0; i <= sums; ++i) {
      const ir::Node* node = ir::find(out.program, after);
      if (node == nullptr || !ir::mentionsBuffer(*node, zero)) return std::nullopt;
      static_cast<void>(extract(out.program, after));
    }
    insert(out.program, after, std::move(next));
    ir::canonicalize(out.program);

    // The way back must give this program again.
    const State before(out.program, state.target());
    if (ir::find(out.program, after) == nullptr) return std::nullopt;
    const Result<RescalePlan> plan = planRescale(before, place);
    if (!plan) return std::nullopt;
    const RescaleNames names = {program.buffer(factor).name, program.buffer(reference).name,
                                program.buffer(zero).name};
    if (std::any_of(names.begin(), names.end(),
                    [&](const std::string& name) { return out.program.find(name).has_value(); })) {
      return std::nullopt;
    }
    std::vector<Arg> args = {place};
    ir::Program again = applyRescale(out.program, *plan, {});
    ir::canonicalize(again);
    if (!(again == program)) {
      again = applyRescale(out.program, *plan, names);
      ir::canonicalize(again);
      if (!(again == program)) return std::nullopt;
      args.insert(args.end(), names.begin(), names.end());
    }
    out.back.push_back(makeMove("online_rescale", std::move(args)));
    return out;
  }
};

}  // namespace

const Rule& twoPass() {
  static const TwoPass rule;
  return rule;
}

}  // namespace dojo::moves::rules
