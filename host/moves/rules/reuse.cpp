// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <optional>

#include "ir/canonical.h"
#include "ir/print.h"
#include "moves/rule.h"
#include "moves/rules/edits.h"
#include "moves/rules/recomputing.h"

namespace dojo::moves::rules {

namespace {

struct Reused {
  ir::Program program;
  Trace back;
};

class Reuse : public Rule {
 public:
  [[nodiscard]] const RuleInfo& info() const override {
    static const RuleInfo out = {
        "reuse",
        "computation",
        {{"T", ArgKind::buffer}, {"access", ArgKind::text}},
        "The tmp T, which one leaf reads and the leaves before it make again, goes: the leaf reads "
        "the element that the text says, where the same value has been made before.",
        "T is made as recompute makes it again.",
        "recompute",
        R"(kernel k
in x f32 [64]
in s f32 []
out y f32 [64]
out z f32 []
tmp e f32 [64]
tmp t0 f32 [~64] @register

z[] = 0
64
| e[{0}] = exp(x[{0}])
| z[] += e[{0}]
64
| t0[{0}] = exp(x[{0}])
| y[{0}] = t0[{0}] / s[]
)",
        "reuse t0 \"e[{0}]\"",
        R"(kernel k
in x f32 [64]
in s f32 []
out y f32 [64]
out z f32 []
tmp e f32 [64]

z[] = 0
64
| e[{0}] = exp(x[{0}])
| z[] += e[{0}]
64
| y[{0}] = e[{0}] / s[]
)"};
    return out;
  }

  /// Offers elements made by the same operation at the same variables.
  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    const ir::Program& program = state.program();
    for (const ir::BufferId id : state.buffersAt(place)) {
      if (!isLikeNew(program.buffer(id))) continue;
      const std::optional<ir::Path> use = useOf(state, id);
      if (!use || use->back() == 0) continue;
      const ir::Node& last = *ir::find(program, sibling(*use, -1));
      if (!last.isLeaf() || last.leaf().dst.buffer != id) continue;
      for (const ir::Site& site : state.accesses().all()) {
        if (!(site.path < place.path)) break;
        if (site.touch != ir::Touch::write || site.reduction || site.access.buffer == id) continue;
        if (site.node->leaf().op != last.leaf().op) continue;
        if (program.buffer(site.access.buffer).dtype != program.buffer(id).dtype) continue;
        if (static_cast<int>(site.enclosing.size()) > depthOf(*use)) continue;
        out.push_back({program.buffer(id).name, ir::printAccess(program, site.access)});
      }
    }
  }

  [[nodiscard]] Status check(const State& state, const std::vector<Arg>& args) const override {
    const Result<Reused> found = reused(state, args);
    return found ? Status() : found.error();
  }

  [[nodiscard]] ir::Program rewrite(const State& state,
                                    const std::vector<Arg>& args) const override {
    return reused(state, args).value().program;
  }

  [[nodiscard]] Trace inverse(const State& before, const std::vector<Arg>& args,
                              const ir::Program& /*after*/) const override {
    return reused(before, args).value().back;
  }

 private:
  static bool isLikeNew(const ir::Buffer& buffer) {
    return !buffer.isArgument() && buffer.location == "register" &&
           std::all_of(buffer.dims.begin(), buffer.dims.end(),
                       [](const ir::Dim& dim) { return dim.fold == 1; });
  }

  /// The last leaf that reads the tmp.
  static std::optional<ir::Path> useOf(const State& state, ir::BufferId id) {
    std::optional<ir::Path> out;
    for (const ir::Site* site : state.accesses().of(id)) {
      if (site->touch == ir::Touch::read) out = site->path;
    }
    return out;
  }

  static Result<Reused> reused(const State& state, const std::vector<Arg>& args) {
    const ir::Program& program = state.program();
    const ir::BufferId id = bufferArg(state, args, 0);
    const std::string name = program.buffer(id).name;
    const Error refusal =
        refuse("move.shape", "'" + name + "' doesn't stand as recompute makes a value again");
    const std::optional<ir::Path> use = useOf(state, id);
    if (!use || !isLikeNew(program.buffer(id))) return refusal;
    if (program.buffer(id).rank() != depthOf(*use)) return refusal;
    if (textArg(args, 1).find('\n') != std::string::npos) {
      return refuse("move.text", "the text is more than one line", *use);
    }

    // A leaf with the element in question, to have it parsed, right before the use.
    const ir::Access own = innerElement(id, depthOf(*use));
    const Result<ir::Program> read =
        withLine(program, *use, ir::printAccess(program, own) + " = " + textArg(args, 1), "");
    if (!read) {
      return refuse("move.text", "the text is no element: " + read.error().message, *use);
    }
    const ir::Node* parsed = ir::find(*read, *use);
    const auto* element = parsed->isLeaf() && parsed->leaf().op == ir::Op::copy
                              ? std::get_if<ir::Access>(&parsed->leaf().operands[0])
                              : nullptr;
    if (element == nullptr) {
      return refuse("move.text", "the text is no element of a buffer", *use);
    }

    // The leaves before it write nothing but what only they and the use read.
    std::vector<std::string> names;
    for (int count = 1; madeHere(state, sibling(*use, -count), *use, id); ++count) {
      const ir::Leaf& leaf = ir::find(program, sibling(*use, -count))->leaf();
      const std::string& tmp = program.buffer(leaf.dst.buffer).name;
      if (std::find(names.begin(), names.end(), tmp) == names.end()) {
        names.insert(names.begin(), tmp);
      }
      if (names.size() > kMostRecomputed) break;
      auto out = without(state, Request{*use, id, *element, count}, *read, names);
      if (out) return std::move(*out);
    }
    return refusal;
  }

  struct Request {
    ir::Path use;
    ir::BufferId value;
    ir::Access instead;  ///< In the program with the line.
    int count;           ///< Of leaves that make the value.
  };

  /// `line` is the program with a line before the use.
  static std::optional<Reused> without(const State& state, const Request& request,
                                       const ir::Program& line,
                                       const std::vector<std::string>& names) {
    const std::string& name = state.program().buffer(request.value).name;
    const std::string& source = line.buffer(request.instead.buffer).name;
    Reused out{line, {}};
    ir::Leaf& leaf = ir::find(out.program, sibling(request.use, 1))->leaf();
    const ir::Operand taken = innerElement(*line.find(name), depthOf(request.use));
    if (std::find(leaf.operands.begin(), leaf.operands.end(), taken) == leaf.operands.end()) {
      return std::nullopt;
    }
    std::replace(leaf.operands.begin(), leaf.operands.end(), taken, ir::Operand(request.instead));
    const ir::Path place = sibling(request.use, -request.count);
    for (int i = 0; i <= request.count; ++i) static_cast<void>(extract(out.program, place));
    ir::canonicalize(out.program);

    // The way back must give this program again.
    const std::optional<ir::BufferId> buffer = out.program.find(source);
    if (!buffer || out.program.find(name)) return std::nullopt;
    const State before(out.program, state.target());
    const Result<RecomputePlan> plan = planRecompute(before, *buffer, place);
    if (!plan || plan->own.size() != names.size()) return std::nullopt;
    std::vector<Arg> back = {source, place};
    ir::Program again = applyRecompute(out.program, *plan, {});
    ir::canonicalize(again);
    if (!(again == state.program())) {
      again = applyRecompute(out.program, *plan, names);
      ir::canonicalize(again);
      if (!(again == state.program())) return std::nullopt;
      back.insert(back.end(), names.begin(), names.end());
    }
    out.back.push_back(makeMove("recompute", std::move(back)));
    return out;
  }

  /// True for a leaf that writes a tmp which nothing but it, leaves of the same body and, for the
  /// value itself, the use touch.
  static bool madeHere(const State& state, const ir::Path& place, const ir::Path& use,
                       ir::BufferId value) {
    const ir::Node* node = place.back() < 0 ? nullptr : ir::find(state.program(), place);
    if (node == nullptr || !node->isLeaf() || node->leaf().isReduction()) return false;
    const ir::BufferId id = node->leaf().dst.buffer;
    if (!isLikeNew(state.program().buffer(id))) return false;
    const auto& sites = state.accesses().of(id);
    return std::all_of(sites.begin(), sites.end(), [&](const ir::Site* site) {
      return parent(site->path) == parent(use) && (site->path < use || id == value);
    });
  }
};

}  // namespace

const Rule& reuse() {
  static const Reuse rule;
  return rule;
}

}  // namespace dojo::moves::rules
