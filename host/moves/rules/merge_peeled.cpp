// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/canonical.h"
#include "moves/arguments.h"
#include "moves/clause.h"
#include "moves/rule.h"

namespace dojo::moves::rules {

namespace {

/// Equal kinds of nodes in an equal tree: what must hold before a comparison pays.
bool sameShape(const std::vector<ir::Node>& a, const std::vector<ir::Node>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].content.index() != b[i].content.index()) return false;
    if (a[i].isScope() && !sameShape(a[i].scope().body, b[i].scope().body)) return false;
  }
  return true;
}

bool isConstantScope(const ir::Node& node) {
  return node.isScope() && node.scope().extent.isConstant();
}

class MergePeeled final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "merge_peeled",
        .group = "structure",
        .parameters = {{"P", ArgKind::place}},
        .effect =
            "The scope P of k iterations and the next sibling, which continues it with m more, "
            "become one scope of k+m.",
        .needs =
            "Constant extents; equal guards and mappings; the body of the second is that of the "
            "first with its variable k larger.",
        .inverse = "peel_scope",
        .before = R"(kernel scale
in x f32 [65]
out y f32 [65]

64
| y[{0}] = x[{0}] * 3
1
| y[{0} + 64] = x[{0} + 64] * 3
)",
        .move = "merge_peeled @0",
        .after = R"(kernel scale
in x f32 [65]
out y f32 [65]

65
| y[{0}] = x[{0}] * 3
)"};
    return info;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    const ir::Node* next = ir::find(state.program(), sibling(place.path, 1));
    if (next == nullptr || !isConstantScope(*place.node) || !isConstantScope(*next)) return;
    if (sameShape(place.node->scope().body, next->scope().body)) out.push_back({place.path});
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    const ir::Path nextPlace = sibling(place, 1);
    if (Status status = needsConstantExtent(state, place); !status) return status;
    if (Status status = needsNextSibling(state, place); !status) return status;
    if (Status status = needsConstantExtent(state, nextPlace); !status) return status;
    const ir::Node& first = *state.visit(place)->node;
    const ir::Node& second = *state.visit(nextPlace)->node;
    DOJO_NEEDS(first.scope().mapping == second.scope().mapping,
               refuse("move.mapping", "the next scope is mapped in another way", nextPlace));
    DOJO_NEEDS(first.guard == second.guard,
               refuse("move.guard", "the next scope has another guard", nextPlace));
    if (first.scope().extent.count + second.scope().extent.count > ir::kMaxElements) {
      return refuse("move.extent", "the extent would be too large", place);
    }
    if (DOJO_CLAUSE(continues(state, place))) return {};
    return refuse("move.shape", "the next scope does not continue this one with the same body",
                  nextPlace);
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    ir::Program out = state.program();
    const ir::Node second = extract(out, sibling(place, 1));
    ir::find(out, place)->scope().extent.count += second.scope().extent.count;
    return out;
  }

  Trace inverse(const State& before, const std::vector<Arg>& args,
                const ir::Program&) const override {
    const ir::Scope* first = scopeAt(before.program(), placeArg(args, 0));
    return {Move{"peel_scope", {args[0], first->extent.count}}};
  }

 private:
  /// Compares what peeling would make of the first scope with the second, both canonical.
  static bool continues(const State& state, const ir::Path& place) {
    const ir::Scope& first = *scopeAt(state.program(), place);
    const ir::Scope& second = *scopeAt(state.program(), sibling(place, 1));
    if (!sameShape(first.body, second.body)) return false;
    const int depth = depthOf(place);
    const auto alone = [&](const std::vector<ir::Node>& body) {
      ir::Program program;
      program.buffers = state.program().buffers;
      program.body = body;
      return program;
    };
    ir::Program peeled = alone(first.body);
    for (ir::Node& node : peeled.body) {
      ir::substitute(node, depth, ir::Affine::variable(depth) + ir::Affine(first.extent.count));
    }
    ir::canonicalize(peeled);
    ir::Program given = alone(second.body);
    ir::canonicalize(given);
    return peeled == given;
  }
};

}  // namespace

const Rule& mergePeeled() {
  static const MergePeeled rule;
  return rule;
}

}  // namespace dojo::moves::rules
