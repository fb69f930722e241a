// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/canonical.h"
#include "ir/check.h"
#include "moves/clause.h"
#include "moves/concurrency.h"
#include "moves/rule.h"
#include "moves/rules/edits.h"
#include "moves/sharing.h"

namespace dojo::moves::rules {

namespace {

class ShareStorage : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo out = {
        "share_storage",
        "buffers",
        {{"A", ArgKind::buffer}, {"B", ArgKind::buffer}},
        "One array for two: the tmp B goes into that of the tmp A, which is as large as the "
        "largest "
        "of those in it.",
        "A and B are tmps of one dtype and location, not in registers; B has its array for itself; "
        "no element of either is written while the other's value there is still to be read, "
        "counting iterations that run at once.",
        "separate_storage",
        R"(kernel k
in x f32 [64]
out y f32 [64]
tmp t f32 [64]
tmp s f32 [64]

64
| t[{0}] = exp(x[{0}])
64
| s[{0}] = x[{0}] + t[{0}]
64
| y[{0}] = x[{0}] * s[{0}]
)",
        "share_storage t s",
        R"(kernel k
in x f32 [64]
out y f32 [64]
tmp t f32 [64]
tmp s f32 [64] shares t

64
| t[{0}] = exp(x[{0}])
64
| s[{0}] = x[{0}] + t[{0}]
64
| y[{0}] = x[{0}] * s[{0}]
)"};
    return out;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    const ir::Program& program = state.program();
    for (const ir::BufferId b : state.buffersAt(place)) {
      if (program.buffer(b).isArgument() || program.sharing(b).size() > 1) continue;
      for (std::size_t i = 0; i < program.buffers.size(); ++i) {
        const auto a = static_cast<ir::BufferId>(i);
        if (program.buffer(a).isArgument() || program.buffer(a).shares >= 0 || a == b) continue;
        // Of two that share nothing yet the first declared is named first.
        if (a > b && program.sharing(a).size() == 1) continue;
        out.push_back({program.buffer(a).name, program.buffer(b).name});
      }
    }
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    const ir::Program& program = state.program();
    const ir::BufferId a = bufferArg(program, args, 0), b = bufferArg(program, args, 1);
    const ir::Buffer& first = program.buffer(a);
    const ir::Buffer& second = program.buffer(b);
    if (first.isArgument() || second.isArgument()) {
      return refuse("move.role", "only tmps share storage: arguments never alias");
    }
    if (program.storageOf(a) == program.storageOf(b)) {
      return refuse("move.sharing",
                    "'" + first.name + "' and '" + second.name + "' are one array already");
    }
    if (program.sharing(b).size() > 1) {
      return refuse(
          "move.sharing",
          "'" + second.name + "' shares other storage: separate_storage " + second.name + " first");
    }
    DOJO_NEEDS(first.dtype == second.dtype,
               refuse("move.dtype",
                      "'" + first.name + "' and '" + second.name + "' have different dtypes"));
    DOJO_NEEDS(first.location == second.location,
               refuse("move.location",
                      "'" + first.name + "' and '" + second.name + "' are in different memories"));
    DOJO_NEEDS(first.location != "register",
               refuse("move.location", "registers are no storage that two tmps could share"));
    // With concurrent scopes every result is proved anyway.
    if (hasConcurrency(program)) return {};
    bool undecided = false;
    Status status = ir::checkSharing(state.accesses(), a, b, undecided);
    if (undecided) status = proveSharing(rewritten(program, a, b));
    DOJO_NEEDS(status, Error{"move.dependence", status.error().message, status.error().where, ""});
    return {};
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    return rewritten(state.program(), bufferArg(state, args, 0), bufferArg(state, args, 1));
  }

  [[nodiscard]] Trace inverse(const State& /*before*/, const std::vector<Arg>& args,
                              const ir::Program& /*after*/) const override {
    return {makeMove("separate_storage", {args[1]})};
  }

 private:
  static ir::Program rewritten(const ir::Program& program, ir::BufferId a, ir::BufferId b) {
    ir::Program out = program;
    out.buffer(b).shares = a;
    ir::canonicalize(out);
    return out;
  }
};

}  // namespace

const Rule& shareStorage() {
  static const ShareStorage rule;
  return rule;
}

}  // namespace dojo::moves::rules
