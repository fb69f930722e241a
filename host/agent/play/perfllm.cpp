// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/play/perfllm.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "ir/print.h"

namespace dojo::agent {
namespace {

/// Draws that may lead nowhere, for each successor that is wanted.
constexpr std::size_t kDraws = 3;
/// A play goes on from what isn't so many times slower than where it was.
constexpr double kGoesOn = 1.15;
/// Schedules of other games that are fitted, and how many become trials at most.
constexpr std::size_t kMostFitted = 16, kMostOpenings = 40;
/// How much of what isn't known counts for a choice.
constexpr double kCurious = 0.5;
/// Worse rewards teach the model nothing that it needs.
constexpr double kLeastReward = -1;

std::string textOf(const search::Position& position) {
  return ir::print(position.state()->program());
}

/// The agent chooses by itself.
search::Problem unranked(search::Problem problem) {
  problem.ranker = nullptr;
  return problem;
}

}  // namespace

std::string describe(const PlayOptions& o) {
  return fmt::format(
      "chains {} successors {} longest {} elite {} fresh {} every {} openings {} guided {} choose "
      "{} model {} trusted {} stops {}",
      o.chains, o.successors, o.longest, o.elite, o.fresh, o.learnEvery, o.openings, o.guided,
      o.choose, o.model, o.trusted, o.stops);
}

PerfLlm::PerfLlm(const search::Problem& problem, Agent& agent, const PlayOptions& options)
    : Walk(unranked(problem)),
      agent_(agent),
      options_(options),
      target_(featuresOf(*problem.target)),
      targetName_(problem.target->name),
      proposer_(options.guided ? &agent.repertoire() : nullptr, targetName_),
      budget_(static_cast<double>(std::max<std::int64_t>(problem.trials, 2))),
      model_(agent.embedder().width()) {
  options_.chains = std::max<std::size_t>(options_.chains, 1);
  const std::size_t ahead = std::max<std::size_t>(agent.learner().options().steps, 1);
  for (std::size_t k = 0; k < options_.chains; ++k) {
    chains_.push_back({start_, search::kFailed, 0, StepJoiner(ahead), std::nullopt, {}});
  }
  proposed_.insert(keyOf(textOf(start_)));
}

double PerfLlm::done(std::int64_t index) const { return static_cast<double>(index) / budget_; }

/// One of the best, the first the most often, and more so towards the end.
const PerfLlm::State* PerfLlm::elite(double late) {
  if (best_.empty()) return nullptr;
  const double next = late > 0.7 ? 0.35 : 0.6;
  std::size_t k = 0;
  while (k + 1 < best_.size() && random_.chance(next)) ++k;
  return &best_[k];
}

void PerfLlm::begin(Chain& chain, double late) {
  const std::size_t ahead = std::max<std::size_t>(agent_.learner().options().steps, 1);
  chain = {start_, startScore_, 0, StepJoiner(ahead), std::nullopt, {}};
  if (best_.empty() || random_.chance(options_.fresh)) return;
  const State& from = *elite(late);
  chain.at = from.at;
  chain.score = from.score;
}

void PerfLlm::finish(Chain& chain, Step step) {
  for (Experience& one : chain.joiner.add(std::move(step))) {
    agent_.learner().remember(std::move(one));
  }
}

/// Fits the schedules of other games to this one, the most promising first.
void PerfLlm::open() {
  opened_ = true;
  if (options_.openings <= 0 || agent_.repertoire().openings().empty()) return;
  const std::string plain = textOf(start_);
  if (Status status = agent_.know({plain}); !status.ok()) {
    counts_.trouble = status;
    return;
  }
  const float* row = agent_.learner().shelf().get(keyOf(plain));
  const std::vector<float> embedding(row, row + agent_.embedder().width());
  std::vector<const Opening*> all = agent_.repertoire().openings(targetName_, embedding);
  if (all.size() > kMostFitted) all.resize(kMostFitted);
  const auto most = static_cast<std::size_t>(
      std::min(static_cast<double>(kMostOpenings), options_.openings * budget_));
  std::unordered_set<ProgramKey> seen = proposed_;
  for (const Opening* one : all) {
    for (const bool everywhere : {true, false}) {
      if (openings_.size() >= most) return;
      std::optional<Draw> draw = proposer_.fitted(start_, one->calls, everywhere, random_);
      if (draw && seen.insert(keyOf(textOf(draw->at))).second)
        openings_.push_back(*std::move(draw));
    }
  }
}

std::optional<search::Position> PerfLlm::opening(Chain& chain) {
  Draw draw = std::move(openings_.front());
  openings_.pop_front();
  if (!proposed_.insert(keyOf(textOf(draw.at))).second) return std::nullopt;
  ++counts_.openings;
  chain.at = start_;
  chain.score = startScore_;
  chain.kinds.clear();
  return std::move(draw.at);
}

std::size_t PerfLlm::choose(const Situation& here, const Chain& chain) {
  if (!options_.model || model_.size() == 0) return agent_.learner().explore(here);
  std::vector<double> beside;
  for (const Choice& choice : here.choices) {
    if (choice.stop) {
      beside.push_back(rewardOfScore(chain.score, startScore_));
      continue;
    }
    const CostModel::Guess guess = model_.guess(agent_.learner().shelf().get(choice.program));
    beside.push_back(guess.mean + kCurious * guess.deviation);
  }
  // Stopping is the network's to decide: where one is one knows, and curiosity isn't asked.
  const auto n = static_cast<double>(model_.size());
  return agent_.learner().explore(here, beside, n / (n + options_.trusted));
}

std::optional<search::Position> PerfLlm::attempt(std::int64_t index) {
  Chain& chain = chainOf(index);
  const double late = done(index);
  chain.chosen.reset();
  chain.kinds.clear();
  if (!opened_) open();
  if (!openings_.empty()) return opening(chain);
  if (chain.steps >= options_.longest || chain.at.steps().empty()) begin(chain, late);
  std::vector<Draw> successors;
  std::vector<std::string> texts = {textOf(chain.at)};
  const std::size_t wanted = options_.choose ? options_.successors : 1;
  for (std::size_t k = 0; k < kDraws * wanted && successors.size() < wanted; ++k) {
    const State* other = elite(late);
    std::optional<Draw> next =
        proposer_.draw(chain.at, other == nullptr ? start_ : other->at, late, random_);
    if (!next) continue;
    std::string text = textOf(next->at);
    if (proposed_.contains(keyOf(text))) continue;
    if (std::find(texts.begin(), texts.end(), text) != texts.end()) continue;
    texts.push_back(std::move(text));
    successors.push_back(*std::move(next));
  }
  if (successors.empty()) {
    begin(chain, late);
    return std::nullopt;
  }
  const auto take = [&](std::size_t which) {
    proposed_.insert(keyOf(texts[which + 1]));
    chain.kinds = std::move(successors[which].kinds);
    return std::move(successors[which].at);
  };
  if (counts_.trouble.ok()) {
    if (Status status = agent_.know(texts); !status.ok()) counts_.trouble = status;
  }
  if (!counts_.trouble.ok()) return take(random_.below(successors.size()));
  Situation here{keyOf(texts[0]), target_, {}};
  for (std::size_t k = 1; k < texts.size(); ++k) here.choices.push_back({keyOf(texts[k]), false});
  // Stopping costs the choices that were drawn: not many times in a row.
  if (chain.steps > 0 || stopped_ < options_.stops) here.choices.push_back({here.program, true});
  const std::size_t chosen = options_.choose ? choose(here, chain) : 0;
  ++counts_.steps;
  if (here.choices[chosen].stop) {
    // Where it stopped was measured when it came there.
    ++counts_.stops;
    ++stopped_;
    finish(chain, {std::move(here), chosen, rewardOfScore(chain.score, startScore_), true});
    begin(chain, late);
    return std::nullopt;
  }
  stopped_ = 0;
  chain.chosen = Step{std::move(here), chosen, std::nullopt, false};
  return take(chosen);
}

void PerfLlm::came(Chain& chain, const search::Position& position, double score, double late) {
  const double reward = rewardOfScore(score, startScore_);
  if (options_.learnEvery > 0 && chain.score != search::kFailed) {
    const double gain = reward - rewardOfScore(chain.score, startScore_);
    for (const std::string& kind : chain.kinds) agent_.repertoire().saw(targetName_, kind, gain);
  }
  chain.kinds.clear();
  if (!chain.chosen) return;
  Step step = *std::exchange(chain.chosen, std::nullopt);
  step.reward = reward;
  ++chain.steps;
  step.end =
      score == search::kFailed || score > kGoesOn * chain.score || chain.steps >= options_.longest;
  const bool end = step.end;
  finish(chain, std::move(step));
  if (end) {
    begin(chain, late);
    return;
  }
  chain.at = position;
  chain.score = score;
}

void PerfLlm::scored(std::int64_t index, search::Position position, double score) {
  ++trials_;
  if (position.steps().empty()) {
    startScore_ = score;
    for (Chain& chain : chains_) chain.score = score;
  }
  if (score != search::kFailed) {
    const auto place = std::find_if(best_.begin(), best_.end(),
                                    [&](const State& one) { return score < one.score; });
    best_.insert(place, {position, score});
    if (best_.size() > options_.elite) best_.pop_back();
  }
  if (options_.model && options_.choose && counts_.trouble.ok()) {
    const std::string text = textOf(position);
    if (Status status = agent_.know({text}); status.ok()) {
      model_.add(agent_.learner().shelf().get(keyOf(text)),
                 std::max(kLeastReward, rewardOfScore(score, startScore_)));
    } else {
      counts_.trouble = status;
    }
  }
  came(chainOf(index), position, score, done(index));
  learn();
}

void PerfLlm::revisited(std::int64_t index, const search::Position& position, double score) {
  Chain& chain = chainOf(index);
  chain.kinds.clear();  // It was counted when it was measured.
  came(chain, position, score, done(index));
}

void PerfLlm::learn() {
  if (options_.learnEvery == 0 || !options_.choose || !counts_.trouble.ok()) return;
  if (trials_ % static_cast<std::int64_t>(options_.learnEvery) != 0) return;
  const Result<double> loss = agent_.learner().learn();
  if (!loss.ok()) {
    counts_.trouble = loss.error();
    return;
  }
  ++counts_.learned;
  counts_.loss = *loss;
}

void PerfLlm::keepOpenings(const std::string& game) {
  const std::string plain = textOf(start_);
  if (!agent_.know({plain}).ok()) return;
  const float* row = agent_.learner().shelf().get(keyOf(plain));
  for (const State& one : best_) {
    if (one.at.steps().empty()) continue;
    Opening opening{targetName_, game, {row, row + agent_.embedder().width()}, {}, 0};
    for (const search::Position::Step& step : one.at.steps()) {
      opening.calls.push_back(moves::toString(step.call));
    }
    opening.reward = rewardOfScore(one.score, startScore_);
    agent_.repertoire().keep(std::move(opening));
  }
}

}  // namespace dojo::agent
