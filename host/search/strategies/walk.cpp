// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/strategies/walk.h"

#include <algorithm>
#include <utility>

#include "search/expert.h"
#include "search/warm.h"

namespace dojo::search {
namespace {

constexpr int kAttempts = 600;
/// Attempts for one proposal that may be given up as hopeless.
constexpr int kMostPruned = 6;
/// What the machine can do beyond the best rate that was seen, and by how much a program must lose
/// even so: counting operations is rough.
constexpr double kRoom = 2;
constexpr double kClearly = 2;

}  // namespace

Walk::Walk(const Problem& problem)
    : random_(problem.seed),
      start_(std::make_shared<const moves::State>(problem.start, *problem.target),
             problem.startTrace) {
  if (problem.expert) first_.push_back(expert(start_));
  if (!problem.startTrace.empty()) return;
  for (const moves::Trace& trace : problem.warm) {
    Position position = fitted(start_, trace);
    if (worthTrying(*position.state())) first_.push_back(std::move(position));
  }
}

std::optional<Candidate> Walk::propose(const History& history) {
  const std::int64_t index = history.size();
  int pruned = 0;
  for (int tried = 0; tried < kAttempts; ++tried) {
    std::optional<Position> next;
    if (first_.empty()) {
      next = attempt(index);
    } else {
      next = std::move(first_.front());
      first_.pop_front();
    }
    if (!next) continue;
    Candidate out = next->toCandidate();
    if (!history.knows(out.text)) {
      if (hopeless(*next) && pruned < kMostPruned) {
        ++pruned;
        ++pruned_;
        continue;
      }
      pending_.emplace(index, std::move(*next));
      return out;
    }
    if (const std::optional<double> score = history.score(out.text)) {
      revisited(index, *next, *score);
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
    if (tried.candidate.text != start_.toCandidate().text) return;
    learn(start_, *tried.outcome);
    scored(index, start_, score);
    return;
  }
  Position position = std::move(found->second);
  pending_.erase(found);
  learn(position, *tried.outcome);
  scored(index, std::move(position), score);
}

void Walk::learn(const Position& position, const Outcome& outcome) {
  if (!outcome.ok() || outcome.measurement().censored) return;
  const double cycles = outcome.measurement().cycles;
  if (cycles <= 0) return;
  bestRate_ = std::max(bestRate_, operationsOf(*position.state()) / cycles);
  if (bestCycles_ == 0 || cycles < bestCycles_) bestCycles_ = cycles;
}

/// A lower bound of its cycles, by the best rate so far, is well beyond the best.
bool Walk::hopeless(const Position& position) const {
  if (bestRate_ == 0) return false;
  const double least = operationsOf(*position.state()) / (kRoom * bestRate_);
  return least > kClearly * bestCycles_;
}

}  // namespace dojo::search
