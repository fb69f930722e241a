// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <utility>

#include "search/expert.h"
#include "search/strategy.h"

namespace dojo::search {
namespace {

class RandomStrategy final : public Strategy {
 public:
  explicit RandomStrategy(const Problem& problem)
      : random_(problem.seed),
        start_(std::make_shared<const moves::State>(problem.start, *problem.target),
               problem.startTrace) {
    if (problem.expert) expert_ = search::expert(start_);
  }

  std::optional<Candidate> propose(const History& history) override {
    if (const std::optional<Position> expert = std::exchange(expert_, std::nullopt)) {
      Candidate out = expert->toCandidate();
      if (!history.knows(out.text)) return out;
    }
    for (int attempt = 0; attempt < 1000; ++attempt) {
      Position at = start_;
      const std::size_t length = 1 + random_.below(8);
      for (std::size_t k = 0; k < length; ++k) {
        std::optional<moves::Move> call =
            random_.chance(0.5) ? sample(*at.state(), random_) : randomMove(*at.state(), random_);
        if (call) at.add(*call);
      }
      if (!worthTrying(*at.state())) continue;
      Candidate out = at.toCandidate();
      if (!history.knows(out.text)) return out;
    }
    return std::nullopt;
  }

  void report(const History&, std::int64_t) override {}

 private:
  Random random_;
  Position start_;
  std::optional<Position> expert_;  ///< Until it was proposed.
};

}  // namespace

std::unique_ptr<Strategy> makeRandom(const Problem& problem) {
  return std::make_unique<RandomStrategy>(problem);
}

}  // namespace dojo::search
