// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/play/perfllm.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "ir/print.h"

namespace dojo::agent {
namespace {

/// Draws that may lead nowhere, for each successor that is wanted.
constexpr std::size_t kDraws = 3;

std::string textOf(const search::Position& position) {
  return ir::print(position.state()->program());
}

}  // namespace

std::string describe(const PlayOptions& o) {
  return fmt::format("chains {} successors {} longest {} elite {} fresh {} every {}", o.chains,
                     o.successors, o.longest, o.elite, o.fresh, o.learnEvery);
}

PerfLlm::PerfLlm(const search::Problem& problem, Agent& agent, const PlayOptions& options)
    : Walk(problem), agent_(agent), options_(options), target_(featuresOf(*problem.target)) {
  options_.chains = std::max<std::size_t>(options_.chains, 1);
  const std::size_t ahead = std::max<std::size_t>(agent.learner().options().steps, 1);
  for (std::size_t k = 0; k < options_.chains; ++k) {
    chains_.push_back({start_, search::kFailed, 0, StepJoiner(ahead), std::nullopt});
  }
}

void PerfLlm::begin(Chain& chain) {
  const std::size_t ahead = std::max<std::size_t>(agent_.learner().options().steps, 1);
  chain = {start_, startScore_, 0, StepJoiner(ahead), std::nullopt};
  if (best_.empty() || random_.chance(options_.fresh)) return;
  const State& from = best_[random_.below(best_.size())];
  chain.at = from.at;
  chain.score = from.score;
}

void PerfLlm::finish(Chain& chain, Step step) {
  for (Experience& one : chain.joiner.add(std::move(step))) {
    agent_.learner().remember(std::move(one));
  }
}

std::optional<search::Position> PerfLlm::attempt(std::int64_t index) {
  Chain& chain = chainOf(index);
  chain.chosen.reset();
  if (chain.steps >= options_.longest) begin(chain);
  std::vector<search::Position> successors;
  std::vector<std::string> texts = {textOf(chain.at)};
  for (std::size_t k = 0; k < kDraws * options_.successors; ++k) {
    if (successors.size() == options_.successors) break;
    std::optional<search::Position> next = search::randomNeighbour(chain.at, random_);
    if (!next) continue;
    std::string text = textOf(*next);
    if (std::find(texts.begin(), texts.end(), text) != texts.end()) continue;
    texts.push_back(std::move(text));
    successors.push_back(std::move(*next));
  }
  if (successors.empty()) {
    begin(chain);
    return std::nullopt;
  }
  if (!counts_.trouble.ok()) return random_.pick(successors);
  if (Status status = agent_.know(texts); !status.ok()) {
    counts_.trouble = status;
    return random_.pick(successors);
  }
  Situation here{keyOf(texts[0]), target_, {}};
  for (std::size_t k = 1; k < texts.size(); ++k) here.choices.push_back({keyOf(texts[k]), false});
  here.choices.push_back({here.program, true});
  const std::size_t chosen = agent_.learner().explore(here);
  ++counts_.steps;
  if (here.choices[chosen].stop) {
    // Where it stopped was measured when it came there.
    ++counts_.stops;
    finish(chain, {std::move(here), chosen, rewardOfScore(chain.score, startScore_), true});
    begin(chain);
    return std::nullopt;
  }
  chain.chosen = Step{std::move(here), chosen, std::nullopt, false};
  return successors[chosen];
}

void PerfLlm::came(Chain& chain, const search::Position& position, double score) {
  if (!chain.chosen) return;
  Step step = *std::exchange(chain.chosen, std::nullopt);
  step.reward = rewardOfScore(score, startScore_);
  ++chain.steps;
  const bool failed = score == search::kFailed;
  step.end = failed || chain.steps >= options_.longest;
  const bool end = step.end;
  finish(chain, std::move(step));
  if (end) {
    begin(chain);
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
  came(chainOf(index), position, score);
  learn();
}

void PerfLlm::revisited(std::int64_t index, const search::Position& position, double score) {
  came(chainOf(index), position, score);
}

void PerfLlm::learn() {
  if (options_.learnEvery == 0 || !counts_.trouble.ok()) return;
  if (trials_ % static_cast<std::int64_t>(options_.learnEvery) != 0) return;
  const Result<double> loss = agent_.learner().learn();
  if (!loss.ok()) {
    counts_.trouble = loss.error();
    return;
  }
  ++counts_.learned;
  counts_.loss = *loss;
}

}  // namespace dojo::agent
