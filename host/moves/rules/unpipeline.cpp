// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/arguments.h"
#include "moves/rule.h"
#include "moves/rules/pipelining.h"

namespace dojo::moves::rules {

namespace {

class Unpipeline final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "unpipeline",
        .group = "buffers",
        .parameters = {{"P", ArgKind::place}},
        .effect =
            "What the scope P puts into a buffer one iteration ahead is put there in the "
            "iteration that uses it, and nothing before P.",
        .needs = "P and what stands before it are what pipeline makes.",
        .inverse = "pipeline",
        .before = R"(kernel rows
in x f64 [4, 16]
out y f64 [4]
tmp t f64 [4~2, 16]

16
| t[0, {0}] = x[0, {0}]
4
| 16 if {0} in [0, 3)
| | t[{0} + 1, {1}] = x[{0} + 1, {1}]
| y[{0}] = 0
| 16
| | y[{0}] += t[{0}, {1}]
)",
        .move = "unpipeline @1",
        .after = R"(kernel rows
in x f64 [4, 16]
out y f64 [4]
tmp t f64 [~4, 16]

4
| 16
| | t[{0}, {1}] = x[{0}, {1}]
| y[{0}] = 0
| 16
| | y[{0}] += t[{0}, {1}]
)"};
    return info;
  }

  void choices(const State&, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (!place.node->isScope() || place.path.back() == 0) return;
    const ir::Scope& scope = place.node->scope();
    if (scope.mapping.none() && !scope.body.front().guard.empty()) out.push_back({place.path});
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    const Result<ir::Program> result = unpipelined(state, placeArg(args, 0));
    return result ? Status() : Status(result.error());
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    return *unpipelined(state, placeArg(args, 0));
  }

  Trace inverse(const State&, const std::vector<Arg>& args, const ir::Program&) const override {
    return {Move{"pipeline", {sibling(placeArg(args, 0), -1)}}};
  }
};

}  // namespace

const Rule& unpipeline() {
  static const Unpipeline rule;
  return rule;
}

}  // namespace dojo::moves::rules
