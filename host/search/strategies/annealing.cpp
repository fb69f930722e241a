// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <vector>

#include "search/strategies/walk.h"

namespace dojo::search {
namespace {

constexpr int kChains = 4;
/// Of the logarithm of the score: at first a program 1.5 times slower is taken one time in three.
constexpr double kHot = 0.35;
constexpr double kCold = 0.01;
/// From this part of the budget on, every chain that is behind goes on from the best.
constexpr double kGather = 0.7;

class Annealing final : public Walk {
 public:
  explicit Annealing(const Problem& problem)
      : Walk(problem),
        trials_(static_cast<double>(std::max<std::int64_t>(problem.trials, 2))),
        best_(start_),
        chains_(kChains, Chain{start_, kFailed, 0}) {}

  int lookahead() const override { return kChains; }

 protected:
  std::optional<Position> attempt(std::int64_t index) override {
    Chain& chain = chainOf(index);
    const bool stuck = chain.idle > std::max(8.0, trials_ / (kChains * 12));
    const bool gather = done(index) > kGather && chain.score > bestScore_ * 1.02 && chain.idle > 4;
    if ((stuck || gather) && bestScore_ != kFailed) chain = {best_, bestScore_, 0};
    return randomNeighbour(chain.at, random_);
  }

  void scored(std::int64_t index, Position position, double score) override {
    if (position.steps().empty()) {  // Where every chain starts.
      bestScore_ = score;
      for (Chain& chain : chains_) chain.score = score;
      return;
    }
    Chain& chain = chainOf(index);
    if (score < bestScore_) {
      bestScore_ = score;
      best_ = position;
      chain.idle = 0;
    } else {
      ++chain.idle;
    }
    revisited(index, position, score);
  }

  /// Chains walk through what is known already without measuring it again.
  void revisited(std::int64_t index, const Position& position, double score) override {
    Chain& chain = chainOf(index);
    if (!accept(score, chain.score, done(index))) return;
    chain.at = position;
    chain.score = score;
  }

 private:
  struct Chain {
    Position at;
    double score;
    int idle;  ///< Trials since it found a new best.
  };

  Chain& chainOf(std::int64_t index) { return chains_[static_cast<std::size_t>(index % kChains)]; }
  /// The part of the budget that is spent.
  [[nodiscard]] double done(std::int64_t index) const {
    return static_cast<double>(index) / trials_;
  }

  bool accept(double score, double current, double done) {
    if (score == kFailed) return false;
    if (score <= current) return true;
    const double temperature = kHot * std::pow(kCold / kHot, std::min(1.0, done));
    return random_.chance(std::exp(-std::log(score / current) / temperature));
  }

  double trials_;
  Position best_;
  double bestScore_ = kFailed;
  std::vector<Chain> chains_;
};

}  // namespace

std::unique_ptr<Strategy> makeAnnealing(const Problem& problem) {
  return std::make_unique<Annealing>(problem);
}

}  // namespace dojo::search
