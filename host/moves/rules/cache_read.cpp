// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/rule.h"
#include "moves/rules/cache.h"
#include "moves/rules/edits.h"

namespace dojo::moves::rules {

namespace {

class CacheRead : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo out = {
        "cache_read",
        "buffers",
        {{"P", ArgKind::body},
         {"B", ArgKind::buffer},
         {"loc", ArgKind::name},
         {"T", ArgKind::name, true}},
        "Around the body of P (@: of the program), once an iteration: copies the region of B that "
        "the body reads into the new tmp T at loc, and reads the copy instead.",
        "B isn't written in the body, and what one iteration reads is a box, clipped by guards to "
        "B's bounds, whose elements have values.",
        "forward_copy",
        R"(kernel k
in x f32 [8, 64]
out y f32 [8, 64]

8
| 64
| | y[{0}, {1}] = x[{0}, 0] * x[{0}, {1}]
)",
        "cache_read @0 x heap",
        R"(kernel k
in x f32 [8, 64]
out y f32 [8, 64]
tmp t0 f32 [64]

8
| 64
| | t0[{1}] = x[{0}, {1}]
| 64
| | y[{0}, {1}] = t0[0] * t0[{1}]
)"};
    return out;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    cacheChoices(state, place, ir::Touch::read, out);
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    const Result<CacheRequest> request = cacheRequest(state, args);
    if (!request) return request.error();
    const Result<CachePlan> plan = planCacheRead(state.accesses(), *request);
    return plan ? Status() : plan.error();
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    const CacheRequest request = cacheRequest(state, args).value();
    return applyCache(state.program(), request, planCacheRead(state.accesses(), request).value());
  }

  [[nodiscard]] Trace inverse(const State& before, const std::vector<Arg>& args,
                              const ir::Program& /*after*/) const override {
    return {makeMove("forward_copy", {cacheRequest(before, args).value().name})};
  }
};

}  // namespace

const Rule& cacheRead() {
  static const CacheRead rule;
  return rule;
}

}  // namespace dojo::moves::rules
