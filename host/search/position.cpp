// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/position.h"

#include <algorithm>

#include "moves/lowerable.h"

namespace dojo::search {
namespace {

/// Compiling takes time in proportion to the code: a kernel that does little isn't worth as much of
/// it as one that does more. One unit of code for so many executions of leaves, within limits.
constexpr double kExecutionsPerCode = 64;
constexpr double kLeastLimit = 128;
constexpr double kMostLimit = 640;

/// Instructions for one vector, roughly.
std::int64_t codeOf(ir::Op op) {
  switch (op) {
    case ir::Op::exp:
    case ir::Op::log:
    case ir::Op::tanh:
    case ir::Op::sigmoid:
    case ir::Op::rsqrt:
      return 16;
    case ir::Op::erf:
    case ir::Op::pow:
      return 48;
    default:
      return 1;
  }
}

struct Size {
  double code = 0;        ///< Vector operations in the text of the code, unrolled copies counted.
  double executions = 0;  ///< Of leaves.
  double operations = 0;  ///< Vector operations that are executed.
};

Size sizeOf(const moves::State& state) {
  const ir::Program& program = state.program();
  Size sum;
  for (const ir::Visit& visit : state.nodes()) {
    if (!visit.node->isLeaf()) continue;
    const ir::Leaf& leaf = visit.node->leaf();
    const ir::DType type = program.buffer(leaf.dst.buffer).dtype;
    const std::int64_t lanes = std::max(1, state.target().lanes(ir::sizeBytes(type)));
    auto copies = static_cast<double>(codeOf(leaf.op));
    double operations = copies;
    double executions = 1;
    for (const ir::Node* around : visit.enclosing) {
      const ir::Scope& scope = around->scope();
      // A data-dependent extent counts once: such loops are short.
      const std::int64_t extent = scope.extent.isConstant() ? scope.extent.count : 1;
      executions *= static_cast<double>(extent);
      if (scope.mapping.has(ir::MapKind::unroll)) copies *= static_cast<double>(extent);
      if (scope.mapping.has(ir::MapKind::vector)) {
        const std::int64_t vectors = (extent + lanes - 1) / lanes;
        copies *= static_cast<double>(vectors);
        operations *= static_cast<double>(vectors);
      } else {
        operations *= static_cast<double>(extent);
      }
    }
    sum.operations += operations;
    sum.code += copies;
    sum.executions += executions;
  }
  return sum;
}

}  // namespace

Candidate Position::toCandidate() const {
  moves::Trace trace = startTrace_;
  for (const Step& step : steps_) trace.insert(trace.end(), step.moves.begin(), step.moves.end());
  return candidate(state()->program(), std::move(trace));
}

bool Position::add(const moves::Move& call) {
  Result<Expansion> made = expand(state(), call);
  if (!made.ok()) return false;
  steps_.push_back({call, made->trace, made->state});
  return true;
}

std::optional<Position> Position::revised(std::size_t index,
                                          const std::optional<moves::Move>& call) const {
  Position out = *this;
  out.steps_.resize(index);
  if (call && !out.add(*call)) return std::nullopt;
  for (std::size_t k = index + 1; k < steps_.size(); ++k) out.add(steps_[k].call);
  return out;
}

std::optional<moves::Move> randomMove(const moves::State& state, Random& random) {
  const std::vector<ir::Visit>& nodes = state.nodes();
  const std::size_t place = random.below(nodes.size() + 1);
  std::vector<moves::Move> candidates =
      moves::candidatesAt(state, place == nodes.size() ? ir::Path{} : nodes[place].path);
  if (candidates.empty()) return std::nullopt;
  return random.pick(candidates);
}

bool worthTrying(const moves::State& state) {
  const Size size = sizeOf(state);
  const double limit = std::clamp(size.executions / kExecutionsPerCode, kLeastLimit, kMostLimit);
  return size.code <= limit && moves::lowerable(state.program(), state.target()).ok();
}

double operationsOf(const moves::State& state) { return sizeOf(state).operations; }

namespace {

/// Adds a random composite; a few of them may be refused first.
bool addComposite(Position& position, Random& random) {
  for (int attempt = 0; attempt < 6; ++attempt) {
    std::optional<moves::Move> call = sample(*position.state(), random);
    if (call && position.add(*call)) return true;
  }
  return false;
}

bool addMoves(Position& position, std::size_t wanted, Random& random) {
  const std::size_t before = position.steps().size();
  for (int attempt = 0; attempt < 12 && position.steps().size() < before + wanted; ++attempt) {
    std::optional<moves::Move> move = randomMove(*position.state(), random);
    if (move) position.add(*move);
  }
  return position.steps().size() > before;
}

}  // namespace

std::optional<Position> randomNeighbour(const Position& from, Random& random) {
  const std::vector<Position::Step>& steps = from.steps();
  const double kind = random.real();
  Position next = from;
  if (kind < 0.10) next = from.origin();
  if (kind < 0.45 || steps.empty()) {
    if (!addComposite(next, random)) return std::nullopt;
  } else if (kind < 0.55) {
    if (!addMoves(next, 1 + random.below(3), random)) return std::nullopt;
  } else {
    const std::size_t index = random.below(steps.size());
    std::optional<moves::Move> call;
    if (kind < 0.88) {
      call = turnKnob(steps[index].call, random);
      if (!call) return std::nullopt;
    }
    std::optional<Position> revised = from.revised(index, call);
    if (!revised) return std::nullopt;
    next = std::move(*revised);
  }
  if (!worthTrying(*next.state())) return std::nullopt;
  return next;
}

}  // namespace dojo::search
