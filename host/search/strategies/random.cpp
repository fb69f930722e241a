// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/strategies/walk.h"

namespace dojo::search {
namespace {

constexpr std::size_t kMostCalls = 8;

class RandomStrategy final : public Walk {
 public:
  using Walk::Walk;

 protected:
  std::optional<Position> attempt(std::int64_t) override {
    Position at = start_;
    const std::size_t length = 1 + random_.below(kMostCalls);
    for (std::size_t k = 0; k < length; ++k) {
      std::optional<moves::Move> call =
          random_.chance(0.5) ? sample(*at.state(), random_) : randomMove(*at.state(), random_);
      if (call) at.add(*call);
    }
    if (!worthTrying(*at.state())) return std::nullopt;
    return at;
  }

  void scored(std::int64_t, Position, double) override {}
};

}  // namespace

std::unique_ptr<Strategy> makeRandom(const Problem& problem) {
  return std::make_unique<RandomStrategy>(problem);
}

}  // namespace dojo::search
