// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>

#include "agent/learn/learner.h"
#include "agent/learn/replay.h"
#include "agent/learn/sum_tree.h"
#include "gradients.h"

using namespace dojo;
using namespace dojo::agent;

namespace {

constexpr std::size_t kWidth = 8;

LearnerOptions smallOptions() {
  LearnerOptions options;
  options.network = {.width = kWidth, .hidden = 16};
  options.replay = {.capacity = 64};
  options.batch = 8;
  options.steps = 1;
  options.gamma = 0.5;
  options.adam = {.rate = 3e-3, .clip = 10};
  return options;
}

/// Programs 1..count with embeddings that tell them apart.
void fillShelf(Shelf& shelf, ProgramKey count) {
  search::Random random(9);
  for (ProgramKey key = 1; key <= count; ++key) {
    std::vector<float> row(kWidth);
    for (float& x : row) x = static_cast<float>(normal(random));
    shelf.put(key, row.data());
  }
}

Situation situation(ProgramKey at, const std::vector<ProgramKey>& to, bool stop = false) {
  Situation out{at, {}, {}};
  for (const ProgramKey key : to) out.choices.push_back({key, false});
  if (stop) out.choices.push_back({at, true});
  return out;
}

Experience experience(ProgramKey from, ProgramKey to, double reward) {
  return {situation(from, {to}), 0, {reward}, {}};
}

}  // namespace

TEST_CASE("agent: a tree of sums, by hand") {
  SumTree tree(5);
  tree.set(0, 1);
  tree.set(1, 2);
  tree.set(3, 4);
  tree.set(4, 0.5);
  CHECK(tree.total() == 7.5);
  CHECK(tree.find(0) == 0);
  CHECK(tree.find(0.999) == 0);
  CHECK(tree.find(1) == 1);
  CHECK(tree.find(2.999) == 1);
  // What weighs nothing is never found.
  CHECK(tree.find(3) == 3);
  CHECK(tree.find(6.999) == 3);
  CHECK(tree.find(7) == 4);
  CHECK(tree.find(7.4999) == 4);
  // Nor what lies behind the last one, should rounding lead there.
  CHECK(tree.find(7.5) == 4);
  tree.set(3, 0);
  CHECK(tree.total() == 3.5);
  CHECK(tree.find(3.2) == 4);
  CHECK(SumTree(1).places() == 1);
}

TEST_CASE("agent: experiences are drawn by their priority, and weights make up for it") {
  Replay replay({.capacity = 4, .prioritized = true, .alpha = 1, .beta = 0.5, .annealed = 100});
  for (ProgramKey key = 1; key <= 3; ++key) replay.add(experience(key, key + 1, 0));
  // Priorities 1, 2 and 5, of a sum of 8.
  replay.update(0, 1 - 1e-3);
  replay.update(1, -2 + 1e-3);
  replay.update(2, 5 - 1e-3);
  search::Random random(1);
  int counts[3] = {};
  for (const Replay::Drawn& one : replay.draw(8000, random)) {
    ++counts[one.place];
    const double priority[] = {1, 2, 5};
    // (N p / sum)^-beta over the largest of these, that of the smallest priority.
    CHECK(one.weight == Approx(std::sqrt(1 / priority[one.place])));
  }
  // Each eighth of the mass is drawn from once in eight draws.
  CHECK(counts[0] == 1000);
  CHECK(counts[1] == 2000);
  CHECK(counts[2] == 5000);
  // A newcomer has the highest priority so far.
  replay.add(experience(8, 9, 0));
  CHECK(replay.priority(3) == Approx(5));
  // The oldest gives way.
  replay.add(experience(10, 11, 0));
  CHECK(replay.size() == 4);
  CHECK(replay.at(0).from.program == 10);
  CHECK(replay.at(1).from.program == 2);
}

TEST_CASE("agent: the exponent of the weights grows to 1") {
  Replay replay({.capacity = 4, .beta = 0.4, .annealed = 3});
  replay.add(experience(1, 2, 0));
  search::Random random(1);
  CHECK(replay.beta() == Approx(0.4));
  (void)replay.draw(1, random);
  CHECK(replay.beta() == Approx(0.6));
  for (int k = 0; k < 5; ++k) (void)replay.draw(1, random);
  CHECK(replay.beta() == Approx(1));
}

TEST_CASE("agent: without priorities all are drawn alike") {
  Replay replay({.capacity = 4, .prioritized = false});
  for (ProgramKey key = 1; key <= 4; ++key) replay.add(experience(key, key + 1, 0));
  replay.update(2, 100);
  search::Random random(1);
  int counts[4] = {};
  for (const Replay::Drawn& one : replay.draw(400, random)) {
    ++counts[one.place];
    CHECK(one.weight == 1);
  }
  for (const int count : counts) CHECK(count == 100);
}

TEST_CASE("agent: steps in a row become one") {
  StepJoiner joiner(2);
  const auto step = [](ProgramKey at, std::optional<double> reward, bool end = false) {
    return Step{situation(at, {at + 1}), 0, reward, end};
  };
  CHECK(joiner.add(step(1, 0.5)).empty());
  CHECK(joiner.add(step(2, std::nullopt)).empty());
  const auto first = joiner.add(step(3, 2.0));
  REQUIRE(first.size() == 1);
  CHECK(first[0].from.program == 1);
  CHECK(first[0].rewards == std::vector<std::optional<double>>{0.5, std::nullopt});
  CHECK(first[0].next.program == 3);
  const auto last = joiner.add(step(4, 1.0, true));
  REQUIRE(last.size() == 3);
  CHECK(last[0].from.program == 2);
  CHECK(last[0].rewards == std::vector<std::optional<double>>{std::nullopt, 2.0});
  CHECK(last[0].next.program == 4);
  CHECK(last[1].rewards == std::vector<std::optional<double>>{2.0, 1.0});
  CHECK(last[1].next.choices.empty());
  CHECK(last[2].rewards == std::vector<std::optional<double>>{1.0});
  // The next play begins anew.
  CHECK(joiner.add(step(7, 0.0)).empty());
}

TEST_CASE("agent: targets by hand") {
  const double gamma = 0.5;
  SECTION("one step") {
    CHECK(targetOf({2.0}, 8.0, gamma, false) == Approx(2 + 4));
    CHECK(targetOf({2.0}, 8.0, gamma, true) == Approx(4));
    CHECK(targetOf({5.0}, 8.0, gamma, true) == Approx(5));
    CHECK(targetOf({5.0}, std::nullopt, gamma, true) == Approx(5));
  }
  SECTION("several") {
    CHECK(targetOf({1.0, 2.0, 4.0}, 16.0, gamma, false) == Approx(1 + 1 + 1 + 2));
    CHECK(targetOf({1.0, 6.0, 4.0}, 16.0, gamma, true) == Approx(3));
    CHECK(targetOf({1.0, 2.0, 4.0}, 32.0, gamma, true) == Approx(4));
  }
  SECTION("what wasn't measured takes time but says nothing") {
    CHECK(targetOf({std::nullopt, 2.0}, std::nullopt, gamma, true) == Approx(1));
    CHECK(targetOf({std::nullopt, 2.0}, std::nullopt, gamma, false) == Approx(1));
    CHECK(targetOf({std::nullopt}, -4.0, gamma, true) == Approx(-2));
    CHECK(targetOf({std::nullopt}, std::nullopt, gamma, true) == kFailureReward);
  }
  SECTION("what is worse than the start isn't better than nothing") {
    CHECK(targetOf({-1.0}, -1.0, gamma, true) == Approx(-0.5));
  }
}

TEST_CASE("agent: the streams of a dueling network, by hand") {
  Tape tape(false);
  Matrix value(2, 1), advantage(5, 1);
  value(0, 0) = 10;
  value(1, 0) = -1;
  for (std::size_t k = 0; k < 5; ++k) advantage(k, 0) = static_cast<float>(k);
  Groups groups;
  groups.add(2);
  groups.add(3);
  const Var q = duel(tape, tape.constant(value), tape.constant(advantage), groups);
  const float wanted[] = {9.5F, 10.5F, -2, -1, 0};
  for (std::size_t k = 0; k < 5; ++k) CHECK(q.value()(k, 0) == Approx(wanted[k]));
}

TEST_CASE("agent: a noisy layer, by hand") {
  search::Random random(4);
  Parameters parameters;
  NoisyLinear layer("layer", 3, 2, parameters, random);
  Matrix x(1, 3);
  for (std::size_t k = 0; k < 3; ++k) x(0, k) = static_cast<float>(k + 1);
  const auto output = [&] {
    Tape tape(false);
    return layer.apply(tape, tape.constant(x)).value();
  };
  const Matrix plain = output();
  const Matrix& mean = parameters.find("layer.mean")->value;
  CHECK(plain(0, 1) == Approx(mean(0, 1) + 2 * mean(1, 1) + 3 * mean(2, 1)));
  layer.draw(random);
  // Noise of rank one: that of a weight is the product of its row's and its column's.
  const Matrix& noise = layer.noise();
  CHECK(noise(0, 0) * noise(2, 1) == Approx(noise(0, 1) * noise(2, 0)));
  const Matrix noisy = output();
  const double deviation = 0.5 / std::sqrt(3.0);
  for (std::size_t j = 0; j < 2; ++j) {
    double sum = plain(0, j) + deviation * layer.biasNoise()(0, j);
    for (std::size_t i = 0; i < 3; ++i) sum += x(0, i) * deviation * noise(i, j);
    CHECK(noisy(0, j) == Approx(sum).epsilon(1e-4));
  }
  layer.silence();
  CHECK(output() == plain);
  // Of f(x) = sign(x) sqrt(|x|), x normal, the square's mean is that of |x|.
  double square = 0;
  for (int k = 0; k < 4000; ++k) {
    layer.draw(random);
    square += layer.biasNoise()(0, 0) * layer.biasNoise()(0, 0) / 4000;
  }
  CHECK(square == Approx(std::sqrt(2 / M_PI)).epsilon(0.05));
}

TEST_CASE("agent: gradients of the network of values, noise and all") {
  for (const bool dueling : {true, false}) {
    QNetwork network({.width = kWidth, .hidden = 8, .dueling = dueling}, 5);
    search::Random random(6);
    network.draw(random);
    Shelf shelf(kWidth);
    fillShelf(shelf, 6);
    const Situation a = situation(1, {2, 3}, true), b = situation(4, {5, 6});
    Matrix target(5, 1), weights(5, 1);
    for (std::size_t k = 0; k < 5; ++k) {
      target(k, 0) = static_cast<float>(k) - 2;
      weights(k, 0) = static_cast<float>(k + 1);
    }
    Parameters& parameters = network.parameters();
    const auto loss = [&](Tape& tape) {
      return huber(tape, network.values(tape, {&a, &b}, shelf), target, weights, 100);
    };
    if (dueling) {
      test::checkGradients(parameters, loss, 0.02);
    } else {
      // The value's stream is left out.
      CHECK(test::valueOf(loss) > 0);
      Tape tape(true);
      tape.backward(loss(tape));
      CHECK(parameters.find("value.in")->grad == Matrix(kWidth + kTargetFeatures, 8));
    }
  }
}

TEST_CASE("agent: the network chooses and its slow copy judges, or the copy does both") {
  LearnerOptions options = smallOptions();
  options.network.noisy = false;
  for (const bool twice : {true, false}) {
    options.doubleTargets = twice;
    Learner learner(options);
    fillShelf(learner.shelf(), 8);
    const Situation next = situation(2, {3, 4, 5, 6, 7, 8}, true);
    const auto best = [](const Matrix& m) {
      return static_cast<std::size_t>(std::max_element(m.data(), m.data() + m.size()) - m.data());
    };
    // Make the two differ in what they would choose.
    Matrix online, slow;
    for (std::uint64_t seed = 1; seed < 50; ++seed) {
      learner.slow().parameters().copyFrom(QNetwork(options.network, 100 + seed).parameters());
      Tape tape(false);
      online = learner.online().values(tape, {&next}, learner.shelf()).value();
      slow = learner.slow().values(tape, {&next}, learner.shelf()).value();
      if (best(online) != best(slow)) break;
    }
    REQUIRE(best(online) != best(slow));
    const Experience going{situation(1, {2}), 0, {-100.0}, next};
    const Experience ended{situation(1, {2}), 0, {1.5}, {}};
    const std::vector<double> targets = learner.targets({&ended, &going, &ended});
    CHECK(targets[0] == Approx(1.5));
    CHECK(targets[1] == Approx(0.5 * slow.data()[twice ? best(online) : best(slow)]));
    CHECK(targets[2] == Approx(1.5));
  }
}

TEST_CASE("agent: the slow copy follows, or is made anew now and then") {
  for (const double follow : {0.1, 0.0}) {
    LearnerOptions options = smallOptions();
    options.follow = follow;
    options.period = 2;
    Learner learner(options);
    fillShelf(learner.shelf(), 8);
    for (int k = 0; k < 8; ++k) learner.remember(experience(1, 2, 5));
    const auto number = [&](QNetwork& network) {
      return network.parameters().find("value.out.bias.mean")->value(0, 0);
    };
    const float before = number(learner.slow());
    REQUIRE(learner.learn().ok());
    const float moved = number(learner.online());
    CHECK(moved != before);
    CHECK(number(learner.slow()) == Approx(before + follow * (moved - before)).margin(1e-9));
    REQUIRE(learner.learn().ok());
    if (follow == 0) CHECK(number(learner.slow()) == number(learner.online()));
  }
}

TEST_CASE("agent: what a chain of programs is worth is learned, to its best reward") {
  // 1 -> 2 -> 3 -> 4, or stop; 2 is bad, 3 is good, 4 is worse than 3.
  LearnerOptions options = smallOptions();
  options.network.noisy = false;
  options.follow = 0.05;
  options.gamma = 0.9;
  Learner learner(options);
  fillShelf(learner.shelf(), 4);
  const double worth[] = {0, 0, -1, 2, 0.5};
  const auto at = [&](ProgramKey key) {
    return key < 4 ? situation(key, {key + 1}, true) : situation(key, {}, true);
  };
  for (ProgramKey key = 1; key <= 4; ++key) {
    const Situation here = at(key);
    if (key < 4) learner.remember({here, 0, {worth[key + 1]}, at(key + 1)});
    learner.remember({here, here.choices.size() - 1, {worth[key]}, {}});
  }
  learner.remember(experience(3, 4, 0.5));
  for (int k = 0; k < 2500; ++k) REQUIRE(learner.learn().ok());
  CHECK(learner.values(at(3))[1] == Approx(2).margin(0.2));
  CHECK(learner.values(at(2))[0] == Approx(2).margin(0.2));
  CHECK(learner.values(at(2))[1] == Approx(-1).margin(0.2));
  // Through a bad program to a good one.
  CHECK(learner.values(at(1))[0] == Approx(1.8).margin(0.25));
  CHECK(learner.values(at(1))[1] == Approx(0).margin(0.2));
}

TEST_CASE("agent: equal seeds learn the same, others other things") {
  const auto train = [](std::uint64_t seed) {
    LearnerOptions options = smallOptions();
    options.seed = seed;
    Learner learner(options);
    fillShelf(learner.shelf(), 8);
    std::vector<std::size_t> chosen;
    for (int k = 0; k < 30; ++k) {
      const Situation here = situation(1, {2, 3, 4, 5, 6, 7}, true);
      chosen.push_back(learner.explore(here));
      learner.remember({here, chosen.back(), {0.1 * static_cast<double>(chosen.back())}, {}});
      REQUIRE(learner.learn().ok());
    }
    return std::make_pair(chosen, learner.values(situation(1, {2, 3, 4})));
  };
  CHECK(train(1) == train(1));
  CHECK(train(1) != train(2));
}

TEST_CASE("agent: without noise, choices at random become fewer") {
  LearnerOptions options = smallOptions();
  options.network.noisy = false;
  options.epsilonSteps = 500;
  Learner learner(options);
  fillShelf(learner.shelf(), 8);
  const Situation here = situation(1, {2, 3, 4, 5, 6, 7, 8});
  const std::vector<double> values = learner.values(here);
  const auto best =
      static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin());
  int early = 0, late = 0;
  for (int k = 0; k < 100; ++k) early += learner.explore(here) == best ? 1 : 0;
  for (int k = 0; k < 400; ++k) (void)learner.explore(here);
  for (int k = 0; k < 100; ++k) late += learner.explore(here) == best ? 1 : 0;
  CHECK(early < 50);
  CHECK(late > 85);
}

TEST_CASE("agent: a loss that isn't a number is told, and changes nothing") {
  Learner learner(smallOptions());
  fillShelf(learner.shelf(), 4);
  for (int k = 0; k < 8; ++k) learner.remember(experience(1, 2, std::nan("")));
  const Matrix before = learner.online().parameters().find("advantage.in")->value;
  const Result<double> loss = learner.learn();
  REQUIRE_FALSE(loss.ok());
  CHECK(loss.error().code == "agent.nan");
  CHECK(learner.online().parameters().find("advantage.in")->value == before);
}

TEST_CASE("agent: rewards") {
  Outcome outcome;
  Measurement fast;
  fast.cycles = 100;
  outcome.result = fast;
  CHECK(rewardOf(outcome, 200) == Approx(std::log(2.0)));
  CHECK(rewardOf(outcome, 50) == Approx(-std::log(2.0)));
  CHECK(rewardOf(outcome, 1) == kFailureReward);
  CHECK(rewardOf(outcome, 0) == 0);
  outcome.result = Failure{Stage::run, "run.fault", "it crashed"};
  CHECK(rewardOf(outcome, 200) == kFailureReward);
}
