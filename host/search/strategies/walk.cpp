// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/strategies/walk.h"

#include <utility>

#include "search/expert.h"

namespace dojo::search {
namespace {

constexpr int kAttempts = 600;

}  // namespace

Walk::Walk(const Problem& problem)
    : random_(problem.seed),
      start_(std::make_shared<const moves::State>(problem.start, *problem.target),
             problem.startTrace) {
  if (problem.expert) expert_ = expert(start_);
}

std::optional<Candidate> Walk::propose(const History& history) {
  const std::int64_t index = history.size();
  for (int tried = 0; tried < kAttempts; ++tried) {
    std::optional<Position> next = std::exchange(expert_, std::nullopt);
    if (!next) next = attempt(index);
    if (!next) continue;
    Candidate out = next->toCandidate();
    if (!history.knows(out.text)) {
      pending_.emplace(index, std::move(*next));
      return out;
    }
    if (const std::optional<double> score = history.score(out.text)) {
      revisited(index, std::move(*next), *score);
    }
  }
  return std::nullopt;
}

void Walk::report(const History& history, std::int64_t index) {
  const Tried& tried = history.all()[static_cast<std::size_t>(index)];
  const double score = scoreOf(*tried.outcome);
  const auto found = pending_.find(index);
  if (found == pending_.end()) {
    // The plain program, if the search starts from another, is no position of it.
    if (tried.candidate.text == start_.toCandidate().text) scored(index, start_, score);
    return;
  }
  Position position = std::move(found->second);
  pending_.erase(found);
  scored(index, std::move(position), score);
}

}  // namespace dojo::search
