// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <bit>
#include <string>
#include <string_view>
#include <utility>

#include "ir/canonical.h"
#include "moves/arguments.h"
#include "moves/rule.h"
#include "moves/rules/mapping.h"

namespace dojo::moves::rules {

namespace {

/// The moves that give the scope at `place` the mappings `bits` of those that it has; empty where
/// there is none for one of them.
Trace movesFor(const ir::Program& program, const ir::Path& place, std::uint16_t bits) {
  static const std::vector<std::pair<ir::MapKind, std::string_view>> kMoves = {
      {ir::MapKind::unroll, "unroll"},
      {ir::MapKind::vector, "vectorize"},
      {ir::MapKind::parallel, "parallelize"},
      {ir::MapKind::stream, "stream"},
      {ir::MapKind::frep, "frep"},
      {ir::MapKind::dma, "dma"}};
  Trace out;
  for (const auto& [kind, name] : kMoves) {
    const auto bit = static_cast<std::uint16_t>(kind);
    if ((bits & bit) == 0) continue;
    bits = static_cast<std::uint16_t>(bits & ~bit);
    Move& move = out.emplace_back(Move{std::string(name), {place}});
    if (kind != ir::MapKind::stream) continue;
    for (const ir::BufferId id : scopeAt(program, place)->mapping.streams) {
      move.args.emplace_back(program.buffer(id).name);
    }
  }
  return bits == 0 ? out : Trace{};
}

/// The mappings that the arguments speak of.
std::uint16_t bitsOf(const ir::Mapping& mapping, const std::vector<Arg>& args) {
  if (args.size() < 2) return mapping.bits;
  for (const ir::MapKind kind : ir::allMapKinds()) {
    if (ir::name(kind) == textArg(args, 1) && mapping.has(kind)) {
      return static_cast<std::uint16_t>(kind);
    }
  }
  return 0;
}

class Unmap final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "unmap",
        .group = "mapping",
        .parameters = {{"P", ArgKind::place}, {"M", ArgKind::name, true}},
        .effect =
            "Takes the mapping of the scope P away, or of several the one that is named: its "
            "iterations run one after the other.",
        .needs = "P is mapped so, and a move can map it so again.",
        .inverse = "unroll, vectorize, parallelize, stream, frep, dma",
        .before = R"(kernel scale
in x f32 [64]
out y f32 [64]

8
| 8:vector
| | y[{0}*8 + {1}] = x[{0}*8 + {1}] * 3
)",
        .move = "unmap @0.0",
        .after = R"(kernel scale
in x f32 [64]
out y f32 [64]

8
| 8
| | y[{0}*8 + {1}] = x[{0}*8 + {1}] * 3
)"};
    return info;
  }

  void choices(const State&, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (!place.node->isScope()) return;
    const ir::Mapping& mapping = place.node->scope().mapping;
    if (mapping.none()) return;
    out.push_back({place.path});
    if (std::popcount(mapping.bits) < 2) return;
    for (const ir::MapKind kind : ir::allMapKinds()) {
      if (mapping.has(kind)) out.push_back({place.path, std::string(ir::name(kind))});
    }
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    if (Status status = needsScope(state, place); !status) return status;
    const std::uint16_t bits = bitsOf(scopeAt(state.program(), place)->mapping, args);
    const Trace back = movesFor(state.program(), place, bits);
    if (back.empty()) {
      return refuse("move.mapping", "the scope has no mapping that a move gives", place);
    }
    // These ask more than what a mapping means, and other moves may have changed that since.
    constexpr auto kLimited = static_cast<std::uint16_t>(
        static_cast<unsigned>(ir::MapKind::stream) | static_cast<unsigned>(ir::MapKind::frep) |
        static_cast<unsigned>(ir::MapKind::dma));
    if ((bits & kLimited) == 0) return {};
    ir::Program unmapped = rewrite(state, args);
    ir::canonicalize(unmapped);
    const Result<ir::Program> again = replay(unmapped, state.target(), back);
    return again ? Status() : Status(again.error());
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    ir::Mapping mapping = scopeAt(state.program(), placeArg(args, 0))->mapping;
    mapping.bits = static_cast<std::uint16_t>(mapping.bits & ~bitsOf(mapping, args));
    if (!mapping.has(ir::MapKind::stream)) mapping.streams.clear();
    return withMapping(state, placeArg(args, 0), std::move(mapping));
  }

  Trace inverse(const State& before, const std::vector<Arg>& args,
                const ir::Program&) const override {
    const ir::Mapping& mapping = scopeAt(before.program(), placeArg(args, 0))->mapping;
    return movesFor(before.program(), placeArg(args, 0), bitsOf(mapping, args));
  }
};

}  // namespace

const Rule& unmap() {
  static const Unmap rule;
  return rule;
}

}  // namespace dojo::moves::rules
