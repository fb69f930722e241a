// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <string>

#include "ir/print.h"
#include "moves/arguments.h"
#include "moves/rule.h"
#include "moves/rules/mapping.h"
#include "moves/streams.h"

namespace dojo::moves::rules {

namespace {

class Frep final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "frep",
        .group = "mapping",
        .parameters = {{"P", ArgKind::place}},
        .effect = "The hardware loop repeats the floating-point body of the scope P.",
        .needs =
            "Not mapped but to streams, a constant extent within the target's limit; inside only "
            "floating-point instructions, as many as the loop holds once unrolled scopes are "
            "copied, and other hardware loops as far as they nest; what is read and "
            "written is in registers, streamed around, or the same element throughout.",
        .inverse = "unmap",
        .before = R"(kernel scale
in x f64 [64]
out y f64 [64]

64:stream(x, y)
| y[{0}] = x[{0}] * 3
)",
        .move = "frep @0",
        .after = R"(kernel scale
in x f64 [64]
out y f64 [64]

64:stream(x, y)+frep
| y[{0}] = x[{0}] * 3
)"};
    return info;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (!place.node->isScope() || !state.target().offersMapping("frep")) return;
    const ir::Mapping& mapping = place.node->scope().mapping;
    const bool open =
        mapping.none() || mapping.bits == static_cast<std::uint16_t>(ir::MapKind::stream);
    if (open && place.node->scope().extent.isConstant()) out.push_back({place.path});
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    if (Status status = needsRegion(state, place, ir::MapKind::frep); !status) return status;
    const ir::Visit& visit = *state.visit(place);
    const target::HardwareLoop& loop = state.target().hardwareLoop;
    const ir::Scope& scope = visit.node->scope();
    if (!scope.extent.isConstant() || scope.extent.count > loop.iterations) {
      return refuse("move.extent",
                    "the hardware loop repeats at most " + std::to_string(loop.iterations) +
                        " times, a number that is known before",
                    place);
    }
    const std::int64_t instructions =
        loopInstructions(state.program(), *visit.node, state.target());
    if (instructions == 0) {
      return refuse("move.shape", "the body is more than floating-point instructions", place);
    }
    if (instructions > loop.instructions) {
      return refuse("move.limit",
                    "the body has about " + std::to_string(instructions) +
                        " instructions, more than the " + std::to_string(loop.instructions) +
                        " that the hardware loop holds",
                    place);
    }
    int around = 1;
    for (const ir::Node* outer : visit.enclosing) {
      if (outer->scope().mapping.has(ir::MapKind::frep)) ++around;
    }
    if (around + loopNesting(*visit.node) > loop.nesting) {
      return refuse("move.limit", "the hardware's loops don't nest so deep", place);
    }
    for (const ir::Node& inner : scope.body) {
      if (Status status = repeatable(inner, place); !status) return status;
    }
    return operandsAtHand(state, visit);
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    ir::Mapping mapping = scopeAt(state.program(), placeArg(args, 0))->mapping;
    mapping.bits |= static_cast<std::uint16_t>(ir::MapKind::frep);
    return withMapping(state, placeArg(args, 0), std::move(mapping));
  }

  Trace inverse(const State& before, const std::vector<Arg>& args,
                const ir::Program&) const override {
    return {unmapOf(before, placeArg(args, 0), ir::MapKind::frep)};
  }

 private:
  static Status repeatable(const ir::Node& node, const ir::Path& place) {
    if (node.isLeaf()) return {};
    const ir::Scope& scope = node.scope();
    if (scope.mapping.none() && !(scope.extent == ir::Extent(1))) {
      return refuse("move.mapping",
                    "loops inside must be unrolled, lanes, or hardware loops themselves", place);
    }
    for (const ir::Node& inner : scope.body) {
      if (Status status = repeatable(inner, place); !status) return status;
    }
    return {};
  }

  /// The variable of the outermost hardware loop.
  static int outermost(const ir::Visit& visit) {
    for (std::size_t k = 0; k < visit.enclosing.size(); ++k) {
      if (visit.enclosing[k]->scope().mapping.has(ir::MapKind::frep)) return static_cast<int>(k);
    }
    return depthOf(visit.path);
  }

  static Status operandsAtHand(const State& state, const ir::Visit& visit) {
    const int variable = outermost(visit);
    const auto streamed = [&](ir::BufferId id) {
      const auto in = [&](const ir::Node* node) {
        const std::vector<ir::BufferId>& streams = node->scope().mapping.streams;
        return std::find(streams.begin(), streams.end(), id) != streams.end();
      };
      return in(visit.node) || std::any_of(visit.enclosing.begin(), visit.enclosing.end(), in);
    };
    for (const ir::Site* site : state.accesses().below(visit.path)) {
      const ir::Buffer& buffer = state.program().buffer(site->access.buffer);
      if (buffer.location == "register" || streamed(site->access.buffer)) continue;
      const bool fixed = std::all_of(
          site->access.indices.begin(), site->access.indices.end(), [&](const ir::Index& index) {
            if (index.isGather()) return false;
            return std::all_of(index.affine.terms().begin(), index.affine.terms().end(),
                               [&](const ir::Term& term) { return term.var < variable; });
          });
      if (fixed && site->touch == ir::Touch::read) continue;
      return refuse(
          "move.stream",
          ir::printAccess(state.program(), site->access) + " is neither streamed nor in a register",
          visit.path);
    }
    return {};
  }
};

}  // namespace

const Rule& frep() {
  static const Frep rule;
  return rule;
}

}  // namespace dojo::moves::rules
