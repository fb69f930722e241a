// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <string>

#include "ir/canonical.h"
#include "moves/arguments.h"
#include "moves/concurrency.h"
#include "moves/rule.h"
#include "moves/rules/mapping.h"
#include "moves/streams.h"

namespace dojo::moves::rules {

namespace {

/// Of so many buffers every selection is worth asking about; of more each by itself, and the first
/// so many.
constexpr std::size_t kMostSelected = 4;

std::vector<ir::BufferId> buffersOf(const State& state, const std::vector<Arg>& args) {
  std::vector<ir::BufferId> out;
  for (std::size_t i = 1; i < args.size(); ++i) out.push_back(bufferArg(state, args, i));
  std::sort(out.begin(), out.end());
  return out;
}

class Stream final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "stream",
        .group = "mapping",
        .parameters = {{"P", ArgKind::place},
                       {"A", ArgKind::buffer},
                       {"B", ArgKind::buffer, true},
                       {"C", ArgKind::buffer, true},
                       {"D", ArgKind::buffer, true},
                       {"E", ArgKind::buffer, true},
                       {"F", ArgKind::buffer, true}},
        .effect =
            "The accesses to the named buffers in the scope P become hardware streams, which "
            "read ahead of the program and write behind it.",
        .needs =
            "No stream scope around or inside, no other mapping than frep on P, constant extents "
            "inside; buffers of floats in the memory that streams reach, with "
            "affine indices (or gathered where the target has indirect streams); a mover for what "
            "is read of each buffer and one for what is written; nothing that is written in P is "
            "read again there, in storage where either goes by a stream.",
        .inverse = "unmap",
        .before = R"(kernel scale
in x f64 [64]
out y f64 [64]

64
| y[{0}] = x[{0}] * 3
)",
        .move = "stream @0 x y",
        .after = R"(kernel scale
in x f64 [64]
out y f64 [64]

64:stream(x, y)
| y[{0}] = x[{0}] * 3
)"};
    return info;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (!place.node->isScope() || !state.target().offersMapping("stream")) return;
    if (place.node->scope().mapping.has(ir::MapKind::stream)) return;
    const std::vector<ir::BufferId> all =
        streamableIn(state.program(), *place.node, state.target());
    const auto add = [&](const std::vector<ir::BufferId>& chosen) {
      if (moversFor(*place.node, chosen) > state.target().streams.movers) return;
      std::vector<Arg> args = {place.path};
      for (const ir::BufferId id : chosen) args.emplace_back(state.program().buffer(id).name);
      if (args.size() <= info().parameters.size()) out.push_back(std::move(args));
    };
    const std::size_t selected = std::min(all.size(), kMostSelected);
    for (unsigned bits = (1U << selected) - 1; bits > 0; --bits) {
      std::vector<ir::BufferId> chosen;
      for (std::size_t i = 0; i < selected; ++i) {
        if ((bits >> i & 1U) != 0) chosen.push_back(all[i]);
      }
      add(chosen);
    }
    for (std::size_t i = selected; i < all.size(); ++i) add({all[i]});
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Path& place = placeArg(args, 0);
    if (Status status = needsRegion(state, place, ir::MapKind::stream); !status) return status;
    const ir::Node& node = *state.visit(place)->node;
    std::vector<ir::BufferId> buffers = buffersOf(state, args);
    if (std::adjacent_find(buffers.begin(), buffers.end()) != buffers.end()) {
      return refuse("move.arguments", "a buffer is named twice", place);
    }
    for (const ir::BufferId id : buffers) {
      const std::string why = notStreamable(state.program(), node, id, state.target());
      if (!why.empty()) return refuse("move.stream", why, place);
    }
    const int movers = moversFor(node, buffers);
    if (movers > state.target().streams.movers) {
      return refuse("move.limit",
                    "these streams take " + std::to_string(movers) + " movers of the " +
                        std::to_string(state.target().streams.movers) + " that the target has",
                    place);
    }
    ir::Program mapped = rewrite(state, args);
    ir::canonicalize(mapped);
    return proveConcurrency(mapped);
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    ir::Mapping mapping = scopeAt(state.program(), placeArg(args, 0))->mapping;
    mapping.bits |= static_cast<std::uint16_t>(ir::MapKind::stream);
    mapping.streams = buffersOf(state, args);
    return withMapping(state, placeArg(args, 0), std::move(mapping));
  }

  Trace inverse(const State& before, const std::vector<Arg>& args,
                const ir::Program&) const override {
    return {unmapOf(before, placeArg(args, 0), ir::MapKind::stream)};
  }
};

}  // namespace

const Rule& stream() {
  static const Stream rule;
  return rule;
}

}  // namespace dojo::moves::rules
