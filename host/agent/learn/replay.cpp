// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/learn/replay.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace dojo::agent {
namespace {

constexpr double kLeastError = 1e-3;  ///< Nothing is forgotten altogether.

}  // namespace

Replay::Replay(const ReplayOptions& options) : options_(options), tree_(options.capacity) {}

void Replay::add(Experience experience) {
  if (all_.size() < options_.capacity) {
    all_.push_back(std::move(experience));
    next_ = all_.size() - 1;
  } else {
    all_[next_] = std::move(experience);
  }
  tree_.set(next_, options_.prioritized ? highest_ : 1);
  next_ = (next_ + 1) % options_.capacity;
}

double Replay::beta() const {
  const double done = static_cast<double>(draws_) /
                      static_cast<double>(std::max<std::int64_t>(options_.annealed, 1));
  return options_.beta + (1 - options_.beta) * std::min(done, 1.0);
}

std::vector<Replay::Drawn> Replay::draw(std::size_t count, search::Random& random) {
  DOJO_CHECK(!all_.empty(), "drawing from nothing");
  const double part = tree_.total() / static_cast<double>(count);
  const double exponent = beta();
  ++draws_;
  // The weight of what is drawn most seldom.
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < all_.size(); ++k) least = std::min(least, tree_.weight(k));
  std::vector<Drawn> out;
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t place = tree_.find((static_cast<double>(k) + random.real()) * part);
    out.push_back({place, std::pow(least / tree_.weight(place), exponent)});
  }
  return out;
}

void Replay::update(std::size_t place, double error) {
  if (!options_.prioritized) return;
  const double priority = std::pow(std::abs(error) + kLeastError, options_.alpha);
  tree_.set(place, priority);
  highest_ = std::max(highest_, priority);
}

void Replay::restore(std::vector<Experience> all, const std::vector<double>& priorities,
                     double highest, std::int64_t draws, std::size_t oldest) {
  DOJO_CHECK(all.size() == priorities.size() && all.size() <= options_.capacity &&
                 oldest < options_.capacity,
             "a replay of another size");
  tree_ = SumTree(options_.capacity);
  all_ = std::move(all);
  for (std::size_t k = 0; k < priorities.size(); ++k) tree_.set(k, priorities[k]);
  highest_ = highest;
  draws_ = draws;
  next_ = oldest;
}

std::vector<Experience> StepJoiner::add(Step step) {
  std::vector<Experience> out;
  const bool end = step.end;
  // Where this step begins, n steps from an earlier one have led.
  if (open_.size() == n_) {
    Experience made{open_[0].from, open_[0].chosen, {}, step.from};
    for (const Step& one : open_) made.rewards.push_back(one.reward);
    out.push_back(std::move(made));
    open_.erase(open_.begin());
  }
  open_.push_back(std::move(step));
  if (!end) return out;
  for (std::size_t first = 0; first < open_.size(); ++first) {
    Experience made{open_[first].from, open_[first].chosen, {}, {}};
    for (std::size_t k = first; k < open_.size(); ++k) made.rewards.push_back(open_[k].reward);
    out.push_back(std::move(made));
  }
  open_.clear();
  return out;
}

}  // namespace dojo::agent
