// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "search/expert.h"
#include "search/strategy.h"

namespace dojo::search {
namespace {

constexpr int kChains = 4;
/// Of the logarithm of the score: at first a program 1.5 times slower is taken one time in three.
constexpr double kHot = 0.35;
constexpr double kCold = 0.01;
/// From this part of the budget on, every chain that is behind goes on from the best.
constexpr double kGather = 0.7;

class Annealing final : public Strategy {
 public:
  explicit Annealing(const Problem& problem)
      : random_(problem.seed),
        trials_(static_cast<double>(std::max<std::int64_t>(problem.trials, 2))),
        best_(std::make_shared<const moves::State>(problem.start, *problem.target),
              problem.startTrace),
        chains_(kChains, Chain{best_, kFailed, 0}) {
    if (problem.expert) expert_ = search::expert(best_);
  }

  int lookahead() const override { return kChains; }

  std::optional<Candidate> propose(const History& history) override {
    const auto which = static_cast<std::size_t>(history.size() % kChains);
    Chain& chain = chains_[which];
    const double done = static_cast<double>(history.size()) / trials_;
    const bool stuck = chain.idle > std::max(8.0, trials_ / (kChains * 12));
    const bool gather = done > kGather && chain.score > bestScore_ * 1.02 && chain.idle > 4;
    if (std::optional<Position> expert = std::exchange(expert_, std::nullopt)) {
      Candidate out = expert->toCandidate();
      if (!history.knows(out.text)) {
        pending_.emplace(history.size(), std::make_pair(which, std::move(*expert)));
        return out;
      }
    }
    if ((stuck || gather) && bestScore_ != kFailed) chain = {best_, bestScore_, 0};
    for (int attempt = 0; attempt < 400; ++attempt) {
      std::optional<Position> next = randomNeighbour(chain.at, random_);
      if (!next) continue;
      Candidate out = next->toCandidate();
      if (!history.knows(out.text)) {
        pending_.emplace(history.size(), std::make_pair(which, std::move(*next)));
        return out;
      }
      // Walk through what is known already without measuring it again.
      std::optional<double> score = history.score(out.text);
      if (score && accept(*score, chain.score, done)) {
        chain.at = std::move(*next);
        chain.score = *score;
      }
    }
    return std::nullopt;
  }

  void report(const History& history, std::int64_t index) override {
    const double score = scoreOf(*history.all()[static_cast<std::size_t>(index)].outcome);
    const double done = static_cast<double>(index) / trials_;
    auto found = pending_.find(index);
    if (found == pending_.end()) {  // Where every chain starts.
      bestScore_ = score;
      for (Chain& chain : chains_) chain.score = score;
      return;
    }
    Chain& chain = chains_[found->second.first];
    Position& position = found->second.second;
    if (score < bestScore_) {
      bestScore_ = score;
      best_ = position;
      chain.idle = 0;
    } else {
      ++chain.idle;
    }
    if (accept(score, chain.score, done)) {
      chain.at = std::move(position);
      chain.score = score;
    }
    pending_.erase(found);
  }

 private:
  struct Chain {
    Position at;
    double score;
    int idle;  ///< Trials since it found a new best.
  };

  bool accept(double score, double current, double done) {
    if (score == kFailed) return false;
    if (score <= current) return true;
    const double temperature = kHot * std::pow(kCold / kHot, std::min(1.0, done));
    return random_.chance(std::exp(-std::log(score / current) / temperature));
  }

  Random random_;
  double trials_;
  Position best_;
  std::optional<Position> expert_;  ///< Until it was proposed.
  double bestScore_ = kFailed;
  std::vector<Chain> chains_;
  std::map<std::int64_t, std::pair<std::size_t, Position>> pending_;
};

}  // namespace

std::unique_ptr<Strategy> makeAnnealing(const Problem& problem) {
  return std::make_unique<Annealing>(problem);
}

}  // namespace dojo::search
