// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <map>
#include <utility>

#include "search/expert.h"
#include "search/strategy.h"

namespace dojo::search {
namespace {

class Greedy final : public Strategy {
 public:
  explicit Greedy(const Problem& problem)
      : random_(problem.seed),
        best_(std::make_shared<const moves::State>(problem.start, *problem.target),
              problem.startTrace) {
    if (problem.expert) expert_ = search::expert(best_);
  }

  std::optional<Candidate> propose(const History& history) override {
    if (std::optional<Position> expert = std::exchange(expert_, std::nullopt)) {
      Candidate out = expert->toCandidate();
      if (!history.knows(out.text)) {
        pending_.emplace(history.size(), std::move(*expert));
        return out;
      }
    }
    if (!listed_) list();
    while (!untried_.empty()) {
      const moves::Move call = std::move(untried_.back());
      untried_.pop_back();
      Position next = best_;
      if (!next.add(call)) continue;
      if (!worthTrying(*next.state())) continue;
      Candidate out = next.toCandidate();
      if (history.knows(out.text)) continue;
      pending_.emplace(history.size(), std::move(next));
      return out;
    }
    return std::nullopt;
  }

  void report(const History& history, std::int64_t index) override {
    const double score = scoreOf(*history.all()[static_cast<std::size_t>(index)].outcome);
    auto found = pending_.find(index);
    if (found == pending_.end()) {  // Where this strategy starts.
      bestScore_ = score;
      return;
    }
    if (score < bestScore_) {
      bestScore_ = score;
      best_ = std::move(found->second);
      listed_ = false;
    }
    pending_.erase(found);
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

  Random random_;
  Position best_;
  std::optional<Position> expert_;  ///< Until it was proposed.
  double bestScore_ = kFailed;
  bool listed_ = false;
  std::vector<moves::Move> untried_;
  std::map<std::int64_t, Position> pending_;
};

}  // namespace

std::unique_ptr<Strategy> makeGreedy(const Problem& problem) {
  return std::make_unique<Greedy>(problem);
}

}  // namespace dojo::search
