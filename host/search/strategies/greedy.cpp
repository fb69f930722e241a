// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <utility>
#include <vector>

#include "search/strategies/walk.h"

namespace dojo::search {
namespace {

class Greedy final : public Walk {
 public:
  explicit Greedy(const Problem& problem) : Walk(problem), best_(start_) {}

 protected:
  std::optional<Position> attempt(std::int64_t) override {
    if (!listed_) list();
    while (!untried_.empty()) {
      const moves::Move call = std::move(untried_.back());
      untried_.pop_back();
      Position next = best_;
      if (next.add(call) && worthTrying(*next.state())) return next;
    }
    return std::nullopt;
  }

  void scored(std::int64_t, Position position, double score) override {
    if (score >= bestScore_) return;
    bestScore_ = score;
    best_ = std::move(position);
    listed_ = false;
  }

 private:
  /// Everything that can be done to the best, shuffled.
  void list() {
    untried_ = moves::applicable(*best_.state());
    for (const Composite* composite : composites()) {
      for (const moves::Arg& place : composite->places(*best_.state())) addCalls(*composite, place);
    }
    for (std::size_t k = untried_.size(); k > 1; --k) {
      std::swap(untried_[k - 1], untried_[random_.below(k)]);
    }
    listed_ = true;
  }

  void addCalls(const Composite& composite, const moves::Arg& place) {
    std::vector<moves::Move> calls = {{std::string(composite.info().name), {place}}};
    for (const Knob& knob : composite.info().knobs) {
      std::vector<moves::Move> more;
      for (const moves::Move& call : calls) {
        for (const std::int64_t value : knob.values) {
          more.push_back(call);
          more.back().args.emplace_back(value);
        }
      }
      calls = std::move(more);
    }
    untried_.insert(untried_.end(), calls.begin(), calls.end());
  }

  Position best_;
  double bestScore_ = kFailed;
  bool listed_ = false;
  std::vector<moves::Move> untried_;
};

}  // namespace

std::unique_ptr<Strategy> makeGreedy(const Problem& problem) {
  return std::make_unique<Greedy>(problem);
}

}  // namespace dojo::search
