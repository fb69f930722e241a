// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/learn/learner.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/check.h"

namespace dojo::agent {
namespace {

std::size_t bestOf(const std::vector<double>& values) {
  return static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

}  // namespace

std::string describe(const LearnerOptions& o) {
  return fmt::format(
      "seed {} width {} hidden {} dueling {} noisy {} replay {} {} {} {} {} double {} max {} steps "
      "{} gamma {} follow {} {} batch {} bend {} adam {} {} {} {} {} {} epsilon {} {} {}",
      o.seed, o.network.width, o.network.hidden, o.network.dueling, o.network.noisy,
      o.replay.capacity, o.replay.prioritized, o.replay.alpha, o.replay.beta, o.replay.annealed,
      o.doubleTargets, o.maxReward, o.steps, o.gamma, o.follow, o.period, o.batch, o.bend,
      o.adam.rate, o.adam.beta1, o.adam.beta2, o.adam.epsilon, o.adam.decay, o.adam.clip, o.epsilon,
      o.leastEpsilon, o.epsilonSteps);
}

double targetOf(const std::vector<std::optional<double>>& rewards, std::optional<double> next,
                double gamma, bool maxReward) {
  std::optional<double> value;
  double factor = 1;
  const auto take = [&](std::optional<double> one) {
    if (one) {
      const double worth = factor * *one;
      if (maxReward) {
        value = value ? std::max(*value, worth) : worth;
      } else {
        value = value.value_or(0) + worth;
      }
    }
    factor *= gamma;
  };
  for (const std::optional<double>& reward : rewards) take(reward);
  take(next);
  // A play that ended without any measurement showed nothing.
  return value.value_or(kFailureReward);
}

search::Random Learner::fresh() {
  return search::Random(options_.seed * 0x9e3779b97f4a7c15ULL +
                        static_cast<std::uint64_t>(++fresh_));
}

Learner::Learner(const LearnerOptions& options)
    : options_(options),
      online_(options.network, options.seed),
      slow_(options.network, options.seed),
      adam_(online_.parameters(), options.adam),
      replay_(options.replay),
      shelf_(options.network.width) {
  slow_.parameters().copyFrom(online_.parameters());
}

std::vector<double> Learner::valuesBy(QNetwork& network, const Situation& situation) {
  Tape tape(false);
  const Var made = network.values(tape, {&situation}, shelf_);
  const float* data = made.value().data();
  return {data, data + made.value().size()};
}

std::vector<double> Learner::values(const Situation& situation) {
  online_.silence();
  return valuesBy(online_, situation);
}

std::size_t Learner::explore(const Situation& situation) { return explore(situation, {}, 0); }

std::size_t Learner::explore(const Situation& situation, const std::vector<double>& beside,
                             double trust) {
  ++choices_;
  search::Random random = fresh();
  if (options_.network.noisy) {
    online_.draw(random);
  } else {
    const double done = static_cast<double>(choices_) /
                        static_cast<double>(std::max<std::int64_t>(options_.epsilonSteps, 1));
    const double epsilon =
        options_.epsilon + (options_.leastEpsilon - options_.epsilon) * std::min(done, 1.0);
    if (random.chance(epsilon)) return random.below(situation.choices.size());
  }
  std::vector<double> values = valuesBy(online_, situation);
  for (std::size_t k = 0; k < beside.size(); ++k) {
    values[k] = (1 - trust) * values[k] + trust * beside[k];
  }
  return bestOf(values);
}

std::vector<double> Learner::targets(const std::vector<const Experience*>& experiences) {
  std::vector<const Situation*> next;
  for (const Experience* one : experiences) {
    if (!one->next.choices.empty()) next.push_back(&one->next);
  }
  Matrix judged, chosenBy;
  if (!next.empty()) {
    Tape tape(false);
    judged = slow_.values(tape, next, shelf_).value();
    chosenBy = options_.doubleTargets ? online_.values(tape, next, shelf_).value() : judged;
  }
  std::vector<double> out;
  std::size_t row = 0;
  for (const Experience* one : experiences) {
    const std::size_t count = one->next.choices.size();
    std::optional<double> value;
    if (count > 0) {
      const float* scores = chosenBy.data() + row;
      value = judged.data()[row + static_cast<std::size_t>(
                                      std::max_element(scores, scores + count) - scores)];
      row += count;
    }
    out.push_back(targetOf(one->rewards, value, options_.gamma, options_.maxReward));
  }
  return out;
}

Result<double> Learner::learn() {
  if (replay_.size() < options_.batch) return 0.0;
  search::Random random = fresh();
  const std::vector<Replay::Drawn> drawn = replay_.draw(options_.batch, random);
  std::vector<const Experience*> experiences;
  std::vector<const Situation*> situations;
  std::vector<std::size_t> rows;
  std::size_t row = 0;
  for (const Replay::Drawn& one : drawn) {
    const Experience& experience = replay_.at(one.place);
    experiences.push_back(&experience);
    situations.push_back(&experience.from);
    rows.push_back(row + experience.chosen);
    row += experience.from.choices.size();
  }
  online_.draw(random);
  slow_.draw(random);
  const std::vector<double> wanted = targets(experiences);
  Matrix target(drawn.size(), 1), weights(drawn.size(), 1);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    target(i, 0) = static_cast<float>(wanted[i]);
    weights(i, 0) = static_cast<float>(drawn[i].weight);
  }
  Tape tape(true);
  const Var values = pick(tape, online_.values(tape, situations, shelf_), rows);
  const Var loss = huber(tape, values, target, weights, options_.bend);
  if (!std::isfinite(loss.value()(0, 0))) {
    return Error{
        "agent.nan",
        "the loss isn't a finite number after " + std::to_string(learned()) + " steps of learning",
        "", ""};
  }
  tape.backward(loss);
  if (Status status = adam_.step(); !status.ok()) return status.error();
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    replay_.update(drawn[i].place, values.value()(i, 0) - wanted[i]);
  }
  if (options_.follow > 0) {
    slow_.parameters().moveTowards(online_.parameters(), static_cast<float>(options_.follow));
  } else if (learned() % options_.period == 0) {
    slow_.parameters().copyFrom(online_.parameters());
  }
  return static_cast<double>(loss.value()(0, 0));
}

}  // namespace dojo::agent
