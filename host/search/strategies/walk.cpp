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
constexpr std::size_t kMostSpare = 256;

}  // namespace

Walk::Walk(const Problem& problem)
    : random_(problem.seed),
      start_(std::make_shared<const moves::State>(problem.start, *problem.target),
             problem.startTrace),
      ranker_(problem.ranker) {
  if (problem.expert) first_.push_back(expert(start_));
  if (!problem.startTrace.empty()) return;
  for (const moves::Trace& trace : problem.warm) {
    Position position = fitted(start_, trace);
    if (worthTrying(*position.state())) first_.push_back(std::move(position));
  }
}

std::optional<Walk::Drawn> Walk::draw(const History& history, const std::vector<Candidate>& among) {
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
      const auto same = [&](const Candidate& other) { return other.text == out.text; };
      if (std::any_of(among.begin(), among.end(), same)) continue;
      if (hopeless(*next) && pruned < kMostPruned) {
        ++pruned;
        ++pruned_;
        continue;
      }
      return Drawn{std::move(*next), std::move(out)};
    }
    if (const std::optional<double> score = history.score(out.text)) {
      revisited(index, *next, *score);
    }
  }
  return std::nullopt;
}

std::optional<Candidate> Walk::propose(const History& history) {
  const std::int64_t index = history.size();
  // What is tried first is tried whatever it looks like.
  const std::size_t wanted = ranker_ && first_.empty() ? ranker_->wanted() : 1;
  std::vector<Position> positions;
  std::vector<Candidate> candidates;
  while (candidates.size() < wanted) {
    std::optional<Drawn> drawn = draw(history, candidates);
    while (!drawn && candidates.empty() && !spare_.empty()) {
      if (!history.knows(spare_.front().candidate.text)) drawn = std::move(spare_.front());
      spare_.pop_front();
    }
    if (!drawn) break;
    positions.push_back(std::move(drawn->at));
    candidates.push_back(std::move(drawn->candidate));
  }
  if (candidates.empty()) return std::nullopt;
  const std::size_t best = candidates.size() > 1 ? ranker_->best(candidates) : 0;
  for (std::size_t k = 0; k < candidates.size(); ++k) {
    if (k != best) spare_.push_back({std::move(positions[k]), std::move(candidates[k])});
  }
  while (spare_.size() > kMostSpare) spare_.pop_front();
  pending_.emplace(index, std::move(positions[best]));
  return std::move(candidates[best]);
}

void Walk::report(const History& history, std::int64_t index) {
  const Tried& tried = history.all()[static_cast<std::size_t>(index)];
  const double score = scoreOf(*tried.outcome);
  if (ranker_) ranker_->learn(tried.candidate, score);
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
