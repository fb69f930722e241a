// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <utility>
#include <vector>

#include "search/strategies/walk.h"

namespace dojo::search {
namespace {

constexpr std::size_t kPopulation = 24;
/// Of so many the fittest becomes a parent.
constexpr int kTournament = 3;
constexpr double kCrossover = 0.3;

class Evolution final : public Walk {
 public:
  using Walk::Walk;

 protected:
  std::optional<Position> attempt(std::int64_t) override {
    if (!random_.chance(kCrossover)) return randomNeighbour(parent(), random_);
    const Position& first = parent();
    return crossed(first, parent());
  }

  void scored(std::int64_t, Position position, double score) override {
    if (score == kFailed) return;
    population_.push_back({std::move(position), score});
    if (population_.size() <= kPopulation) return;
    population_.erase(
        std::max_element(population_.begin(), population_.end(),
                         [](const Member& a, const Member& b) { return a.score < b.score; }));
  }

 private:
  struct Member {
    Position at;
    double score;
  };

  const Position& parent() {
    if (population_.empty()) return start_;
    const Member* best = nullptr;
    for (int k = 0; k < kTournament; ++k) {
      const Member& one = random_.pick(population_);
      if (best == nullptr || one.score < best->score) best = &one;
    }
    return best->at;
  }

  /// The first calls of one and the last of the other, as far as they're possible.
  std::optional<Position> crossed(const Position& a, const Position& b) {
    if (a.steps().empty() || b.steps().empty()) return std::nullopt;
    Position out = start_;
    const std::size_t head = 1 + random_.below(a.steps().size());
    const std::size_t tail = random_.below(b.steps().size());
    for (std::size_t k = 0; k < head; ++k) out.add(a.steps()[k].call);
    for (std::size_t k = tail; k < b.steps().size(); ++k) out.add(b.steps()[k].call);
    if (out.steps().empty() || !worthTrying(*out.state())) return std::nullopt;
    return out;
  }

  std::vector<Member> population_;
};

}  // namespace

std::unique_ptr<Strategy> makeEvolution(const Problem& problem) {
  return std::make_unique<Evolution>(problem);
}

}  // namespace dojo::search
