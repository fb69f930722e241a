// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/pretrain/corpus.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "base/check.h"
#include "kernels/kernels.h"
#include "moves/move.h"
#include "moves/rule.h"
#include "proof/generate.h"
#include "search/position.h"

namespace dojo::agent {
namespace {

constexpr double kOfSuite = 0.7;
/// Steps before the stretch begins.
constexpr std::size_t kMostBefore = 8;
constexpr int kAttempts = 40;

/// A parameter of a kernel at another size: a few doublings away, at times an odd number.
std::int64_t resized(std::int64_t value, search::Random& random) {
  if (random.chance(0.3)) return value;
  const auto shift = static_cast<int>(random.below(7)) - 3;
  std::int64_t out = shift >= 0 ? value << shift : std::max<std::int64_t>(value >> -shift, 1);
  if (random.chance(0.2)) out += static_cast<std::int64_t>(random.below(8));
  return std::clamp<std::int64_t>(out, 1, 4096);
}

bool step(search::Position& position, search::Random& random) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::optional<moves::Move> call = random.chance(0.5)
                                                ? search::sample(*position.state(), random)
                                                : search::randomMove(*position.state(), random);
    if (call && position.add(*call)) return true;
  }
  return false;
}

/// The program before a step, reached from the one after it; nullopt where a move of the way back
/// is refused: the proof of moves is where that is held against them, not here.
std::optional<ir::Program> undone(const moves::State& before, const search::Position::Step& step) {
  std::vector<moves::Trace> back;
  ir::Program at = before.program();
  for (const moves::Move& move : step.moves) {
    const moves::State state(at, before.target());
    Result<ir::Program> next = moves::apply(state, move);
    DOJO_CHECK(next.ok(), "a move of a step is refused");
    back.push_back(moves::undo(state, move, *next));
    at = *std::move(next);
  }
  for (std::size_t k = back.size(); k > 0; --k) {
    Result<ir::Program> earlier = moves::replay(at, before.target(), back[k - 1]);
    if (!earlier.ok()) return std::nullopt;
    at = *std::move(earlier);
  }
  return at;
}

}  // namespace

Corpus::Corpus(std::vector<std::string> kernels, std::vector<const target::Target*> targets)
    : kernels_(std::move(kernels)), targets_(std::move(targets)) {
  DOJO_CHECK(!targets_.empty(), "a corpus of programs for no target");
  if (!kernels_.empty()) return;
  for (const kernels::Kernel& kernel : kernels::list()) kernels_.push_back(kernel.name);
}

ir::Program Corpus::plain(search::Random& random) const {
  if (!random.chance(kOfSuite)) {
    proof::Random other(random.next());
    return proof::randomProgram(other);
  }
  const std::string& name = random.pick(kernels_);
  const auto& all = kernels::list();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const kernels::Kernel& one) { return one.name == name; });
  ir::ParseOptions options;
  if (found != all.end()) {
    for (const auto& [param, value] : found->shape) options.params[param] = resized(value, random);
  }
  // Not every size fits a kernel.
  if (Result<ir::Parsed> made = kernels::load(name, options); made.ok()) return made->program;
  Result<ir::Parsed> own = kernels::load(name);
  DOJO_CHECK(own.ok(), "kernel " + name + " can't be loaded");
  return own->program;
}

Chain Corpus::chain(std::size_t length, search::Random& random) const {
  DOJO_CHECK(length >= 2, "a chain has a step");
  while (true) {
    const target::Target& target = *random.pick(targets_);
    search::Position position(std::make_shared<const moves::State>(plain(random), target), {});
    const std::size_t before = random.below(kMostBefore + 1);
    for (std::size_t k = 0; k < before; ++k) {
      if (!step(position, random)) break;
    }
    const search::StatePtr first = position.state();
    const std::size_t steps = position.steps().size();
    bool made = true;
    for (std::size_t k = 1; k < length && made; ++k) made = step(position, random);
    if (!made) continue;
    Chain out;
    out.states.push_back(first->program());
    for (std::size_t k = steps; k < position.steps().size(); ++k) {
      out.states.push_back(position.steps()[k].after->program());
    }
    std::optional<ir::Program> again = undone(*first, position.steps()[steps]);
    if (!again) continue;
    out.again = *std::move(again);
    return out;
  }
}

}  // namespace dojo::agent
