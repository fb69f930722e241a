// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/rule.h"
#include "moves/rules/cache.h"
#include "moves/rules/edits.h"

namespace dojo::moves::rules {

namespace {

class CacheWrite : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo out = {
        "cache_write",
        "buffers",
        {{"P", ArgKind::body},
         {"B", ArgKind::buffer},
         {"loc", ArgKind::name},
         {"T", ArgKind::name, true}},
        "Around the body of P (@: of the program), once an iteration: all accesses of B in the "
        "body "
        "go to the new tmp T at loc, which is copied out at the end, and in at the start unless "
        "the body writes all of it before reading it.",
        "What one iteration touches is a box, clipped by guards to B's bounds; where it's copied "
        "in, its elements have values.",
        "forward_copy",
        R"(kernel k
in x f32 [8, 64]
out y f32 [8]

8
| y[{0}] = 0
| 64
| | y[{0}] += x[{0}, {1}]
)",
        "cache_write @0 y register",
        R"(kernel k
in x f32 [8, 64]
out y f32 [8]
tmp t0 f32 [] @register

8
| t0[] = 0
| 64
| | t0[] += x[{0}, {1}]
| y[{0}] = t0[]
)"};
    return out;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    cacheChoices(state, place, ir::Touch::write, out);
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    const Result<CacheRequest> request = cacheRequest(state, args);
    if (!request) return request.error();
    const Result<CachePlan> plan = planCacheWrite(state.accesses(), *request);
    return plan ? Status() : plan.error();
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    const CacheRequest request = cacheRequest(state, args).value();
    return applyCache(state.program(), request, planCacheWrite(state.accesses(), request).value());
  }

  [[nodiscard]] Trace inverse(const State& before, const std::vector<Arg>& args,
                              const ir::Program& /*after*/) const override {
    return {
        makeMove("forward_copy", {cacheRequest(before, args).value().name, std::string("write")})};
  }
};

}  // namespace

const Rule& cacheWrite() {
  static const CacheWrite rule;
  return rule;
}

}  // namespace dojo::moves::rules
