// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "moves/rule.h"
#include "moves/rules/edits.h"
#include "moves/rules/padding.h"

namespace dojo::moves::rules {

namespace {

class PadCache final : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "pad_cache",
        .group = "buffers",
        .parameters = {{"P", ArgKind::body},
                       {"B", ArgKind::buffer},
                       {"loc", ArgKind::name},
                       {"T", ArgKind::name, true}},
        .effect =
            "Around the body of P (@: of the program), once an iteration: copies the region of B "
            "that the body reads into the new tmp T at loc, with the identity of the reductions "
            "that read it wherever their guards would keep them off; they read the copy instead, "
            "without these guards.",
        .needs =
            "B isn't written in the body; the guards are terms on B's indices, the same for all "
            "reads; the leaves reduce an element, or a sum of products whose other factor is an "
            "integer, a constant or declared finite (0 times infinity is NaN); without the guard "
            "they touch only elements that exist and have values. Adding 0 may turn a sum of -0 "
            "into 0, as a partial sum of privatize may.",
        .inverse = "unpad_cache",
        .before = R"(kernel k
in x f32 [64]
in w f32 [3] finite
out y f32 [64]

64
| y[{0}] = 0
| 3
| | y[{0}] += x[{0} + {1} - 1] * w[{1}] if {0} + {1} - 1 in [0, 64)
)",
        .move = "pad_cache @ x heap",
        .after = R"(kernel k
in x f32 [64]
in w f32 [3] finite
out y f32 [64]
tmp t0 f32 [66]

66
| t0[{0}] = 0
| t0[{0}] = x[{0} - 1] if {0} - 1 in [0, 64)
64
| y[{0}] = 0
| 3
| | y[{0}] += w[{1}] * t0[{0} + {1}]
)"};
    return info;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    const auto add = [&](const ir::Path& path) {
      std::vector<bool> guarded(state.program().buffers.size());
      for (const ir::Site* site : state.accesses().below(path)) {
        const auto id = static_cast<std::size_t>(site->access.buffer);
        if (site->path == path || guarded[id]) continue;
        guarded[id] = guardsRead(*site->node, site->access.buffer);
      }
      for (std::size_t id = 0; id < guarded.size(); ++id) {
        if (!guarded[id]) continue;
        for (const std::string& location : state.target().locations) {
          out.push_back({path, state.program().buffers[id].name, location});
        }
      }
    };
    // The whole program belongs to its first node.
    if (place.path == ir::Path{0}) add({});
    if (place.node->isScope()) add(place.path);
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    const Result<CacheRequest> request = cacheRequest(state, args);
    if (!request) return request.error();
    const Result<PaddingPlan> plan = planPadding(state.accesses(), *request);
    return plan ? Status() : plan.error();
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    const CacheRequest request = cacheRequest(state, args).value();
    return applyPadding(state.program(), request, planPadding(state.accesses(), request).value());
  }

  [[nodiscard]] Trace inverse(const State& before, const std::vector<Arg>& args,
                              const ir::Program& /*after*/) const override {
    return {makeMove("unpad_cache", {cacheRequest(before, args).value().name})};
  }
};

}  // namespace

const Rule& padCache() {
  static const PadCache rule;
  return rule;
}

}  // namespace dojo::moves::rules
