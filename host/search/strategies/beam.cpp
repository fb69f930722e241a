// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <utility>
#include <vector>

#include "search/strategies/walk.h"

namespace dojo::search {
namespace {

constexpr std::size_t kWidth = 6;
/// Neighbours of each position of the beam that are measured in a round.
constexpr std::size_t kEach = 6;

class Beam final : public Walk {
 public:
  using Walk::Walk;

 protected:
  std::optional<Position> attempt(std::int64_t) override {
    if (beam_.empty()) return randomNeighbour(start_, random_);
    return randomNeighbour(beam_[random_.below(beam_.size())].at, random_);
  }

  void scored(std::int64_t, Position position, double score) override {
    if (score != kFailed) seen_.push_back({std::move(position), score});
    if (++reported_ < kWidth * kEach) return;
    // The best of the beam and of all that came since are the next beam.
    reported_ = 0;
    seen_.insert(seen_.end(), beam_.begin(), beam_.end());
    std::stable_sort(seen_.begin(), seen_.end(),
                     [](const Scored& a, const Scored& b) { return a.score < b.score; });
    if (seen_.size() > kWidth) seen_.erase(seen_.begin() + kWidth, seen_.end());
    beam_ = std::exchange(seen_, {});
  }

 private:
  struct Scored {
    Position at;
    double score;
  };

  std::vector<Scored> beam_, seen_;
  std::size_t reported_ = 0;  ///< In this round.
};

}  // namespace

std::unique_ptr<Strategy> makeBeam(const Problem& problem) {
  return std::make_unique<Beam>(problem);
}

}  // namespace dojo::search
