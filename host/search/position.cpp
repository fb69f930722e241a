// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/position.h"

#include "moves/lowerable.h"

namespace dojo::search {

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

std::optional<Position> randomNeighbour(const Position& from, Random& random) {
  Position next = from;
  const std::vector<Position::Step>& steps = from.steps();
  const double kind = random.real();
  if (kind < 0.45 || steps.empty()) {
    // A composite that has no place here is no reason to give up the attempt.
    bool added = false;
    for (int attempt = 0; attempt < 4 && !added; ++attempt) {
      std::optional<moves::Move> call = sample(*random.pick(composites()), *next.state(), random);
      added = call && next.add(*call);
    }
    if (!added) return std::nullopt;
  } else if (kind < 0.60) {
    std::size_t wanted = 1 + random.below(3);
    for (int attempt = 0; attempt < 12 && wanted > 0; ++attempt) {
      std::optional<moves::Move> move = randomMove(*next.state(), random);
      if (move && next.add(*move)) --wanted;
    }
    if (next.steps().size() == steps.size()) return std::nullopt;
  } else {
    const std::size_t index = random.below(steps.size());
    std::optional<moves::Move> call;
    if (kind < 0.85) {
      call = turnKnob(steps[index].call, random);
      if (!call) return std::nullopt;
    }
    std::optional<Position> revised = from.revised(index, call);
    if (!revised) return std::nullopt;
    next = std::move(*revised);
  }
  if (!moves::lowerable(next.state()->program(), next.state()->target()).ok()) return std::nullopt;
  return next;
}

}  // namespace dojo::search
