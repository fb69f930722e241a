// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "ir/canonical.h"
#include "moves/arguments.h"
#include "moves/rule.h"
#include "moves/rules/bias.h"
#include "moves/rules/edits.h"

namespace dojo::moves::rules {

namespace {

/// The program before, and the move that makes this one of it.
struct Unbiased {
  ir::Program program;
  ir::Path place;
  std::int64_t operand = 0;
  std::string biased, sum;
};

/// The node at top level that writes `buffer` first.
std::optional<int> writerOf(const State& state, ir::BufferId buffer) {
  for (const ir::Visit& visit : state.nodes()) {
    if (visit.node->isLeaf() && visit.node->leaf().dst.buffer == buffer) return visit.path.front();
  }
  return std::nullopt;
}

/// Guesses from the shape of the program; whether it's right shows when the move is made.
std::optional<Unbiased> guess(const State& state, const ir::Path& place, std::size_t operand) {
  const ir::Program& program = state.program();
  const ir::Node& node = *ir::find(program, place);
  if (!node.isLeaf() || node.leaf().operands.size() != 2) return std::nullopt;
  const auto* u = std::get_if<ir::Access>(&node.leaf().operands[operand]);
  if (u == nullptr || program.buffer(u->buffer).dtype != ir::DType::u8) return std::nullopt;
  const ir::Path root = loopsAround(program, place);
  const ir::Node* correction = ir::find(program, sibling(root, 1));
  if (root == place || correction == nullptr) return std::nullopt;
  while (correction->isScope()) correction = correction->scope().body.data();
  const ir::Leaf& last = correction->leaf();
  const auto* s = last.operands.empty() ? nullptr : std::get_if<ir::Access>(last.operands.data());
  if (s == nullptr) return std::nullopt;
  const std::optional<int> biasing = writerOf(state, u->buffer);
  const std::optional<int> summing = writerOf(state, s->buffer);
  if (!biasing || !summing || *biasing >= *summing || *summing >= place.front()) {
    return std::nullopt;
  }
  const ir::Node* first = &program.body[static_cast<std::size_t>(*biasing)];
  while (first->isScope()) first = first->scope().body.data();
  const auto* x = first->leaf().op == ir::Op::cast
                      ? std::get_if<ir::Access>(first->leaf().operands.data())
                      : nullptr;
  if (x == nullptr) return std::nullopt;

  Unbiased out;
  out.program = program;
  out.biased = program.buffer(u->buffer).name;
  out.sum = program.buffer(s->buffer).name;
  const ir::BufferId from = x->buffer;
  std::get<ir::Access>(ir::find(out.program, place)->leaf().operands[operand]).buffer = from;
  static_cast<void>(extract(out.program, sibling(root, 1)));
  // Of a scalar each is two nodes.
  const auto scalar = [&](ir::BufferId id) { return program.buffer(id).rank() == 0 ? 2 : 1; };
  const int sums = scalar(s->buffer);
  const int biases = scalar(u->buffer);
  if (*summing + sums != place.front() || *biasing + biases != *summing) return std::nullopt;
  for (int k = 0; k < sums + biases; ++k) {
    static_cast<void>(extract(out.program, {*biasing}));
  }
  out.place = place;
  out.place.front() = *biasing;
  ir::canonicalize(out.program);
  return out;
}

std::optional<Unbiased> unbiased(const State& state, const ir::Path& place) {
  for (std::size_t operand = 0; operand < 2; ++operand) {
    std::optional<Unbiased> out = guess(state, place, operand);
    if (!out) continue;
    if (out->program.find(out->biased) || out->program.find(out->sum)) continue;
    const State before(out->program, state.target());
    for (std::int64_t k = 0; k < 2; ++k) {
      const Result<BiasPlan> plan = planBias(before, out->place, k, out->biased, out->sum);
      if (!plan) continue;
      ir::Program again = applyBias(out->program, *plan);
      ir::canonicalize(again);
      if (!(again == state.program())) continue;
      out->operand = k;
      return out;
    }
  }
  return std::nullopt;
}

class UnbiasOperand final : public Rule {
 public:
  const RuleInfo& info() const override {
    static const RuleInfo info{
        .name = "unbias_operand",
        .group = "computation",
        .parameters = {{"P", ArgKind::place}},
        .effect =
            "The sum of x + 128 times y at P, less 128 times the sum of y, becomes that of x times "
            "y, and what was made for it goes.",
        .needs = "All of it is as bias_operand makes it, next to one another.",
        .inverse = "bias_operand",
        .before = R"(kernel k
in a i8 [64]
in b i8 [64]
out c i32 []
tmp t0 u8 [64]
tmp t1 i32 []

c[] = 0
64
| t0[{0}] = cast(a[{0}])
| t0[{0}] = t0[{0}] + 128
t1[] = 0
64
| t1[] += b[{0}]
64
| c[] += b[{0}] * t0[{0}]
c[] += t1[] * -128
)",
        .move = "unbias_operand @4.0",
        .after = R"(kernel k
in a i8 [64]
in b i8 [64]
out c i32 []

c[] = 0
64
| c[] += a[{0}] * b[{0}]
)"};
    return info;
  }

  void choices(const State& state, const ir::Visit& place,
               std::vector<std::vector<Arg>>& out) const override {
    if (!place.node->isLeaf()) return;
    const ir::Leaf& leaf = place.node->leaf();
    if (leaf.assign != ir::Assign::add || leaf.op != ir::Op::mul) return;
    for (const ir::Operand& operand : leaf.operands) {
      const auto* u = std::get_if<ir::Access>(&operand);
      if (u == nullptr) continue;
      const ir::Buffer& buffer = state.program().buffer(u->buffer);
      if (buffer.dtype != ir::DType::u8 || buffer.isArgument()) continue;
      out.push_back({place.path});
      return;
    }
  }

  Status check(const State& state, const std::vector<Arg>& args) const override {
    if (unbiased(state, placeArg(args, 0))) return {};
    return refuse("move.shape", "a sum as bias_operand makes it was expected", placeArg(args, 0));
  }

  ir::Program rewrite(const State& state, const std::vector<Arg>& args) const override {
    return unbiased(state, placeArg(args, 0))->program;
  }

  Trace inverse(const State& before, const std::vector<Arg>& args,
                const ir::Program&) const override {
    const std::optional<Unbiased> plain = unbiased(before, placeArg(args, 0));
    return {makeMove("bias_operand", {plain->place, plain->operand, plain->biased, plain->sum})};
  }
};

}  // namespace

const Rule& unbiasOperand() {
  static const UnbiasOperand rule;
  return rule;
}

}  // namespace dojo::moves::rules
