// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "performance/agents/players.h"

#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "performance/agents/contest.h"

namespace dojo::contest {
namespace {

/// As it was trained, without learning on.
constexpr const char* kSettled = "perfllm, as trained";

/// What can be taken away from the agent, and how.
struct Ablation {
  const char* name;
  void (*apply)(agent::AgentSettings& settings);
};

const std::vector<Ablation>& all() {
  using Settings = agent::AgentSettings;
  static const std::vector<Ablation> list = {
      {"untrained", [](Settings&) {}},
      {"no double targets", [](Settings& s) { s.learner.doubleTargets = false; }},
      {"no dueling", [](Settings& s) { s.learner.network.dueling = false; }},
      {"no noisy layers", [](Settings& s) { s.learner.network.noisy = false; }},
      {"no priorities", [](Settings& s) { s.learner.replay.prioritized = false; }},
      {"one step", [](Settings& s) { s.learner.steps = 1; }},
      {"sum of rewards", [](Settings& s) { s.learner.maxReward = false; }},
      {"no learning", [](Settings& s) { s.play.learnEvery = 0; }},
      {"counts of words",
       [](Settings& s) {
         s.embedder = []() -> Result<std::unique_ptr<agent::Embedder>> {
           return std::unique_ptr<agent::Embedder>(std::make_unique<WordCounts>());
         };
       }},
  };
  return list;
}

std::string named(const Ablation& one) { return fmt::format("{}, {}", kSubject, one.name); }

}  // namespace

std::vector<std::string> usualPlayers() {
  std::vector<std::string> out;
  for (const search::StrategyInfo& info : search::strategies()) out.emplace_back(info.name);
  out.emplace_back(kSubject);
  return out;
}

std::vector<std::string> ablations() {
  std::vector<std::string> out;
  for (const Ablation& one : all()) out.push_back(named(one));
  return out;
}

std::vector<std::string> transferPlayers() { return {kUnlearned, kSubject, kSettled}; }

Result<Player> agentPlayer(const std::string& name, agent::AgentSettings settings) {
  const Result<agent::OpenedAgent> opened = agent::openAgent(settings);
  if (!opened.ok()) return opened.error();
  Player out;
  out.name = name;
  out.logged = fmt::format("{} {}", kSubject, opened->hash);
  out.make = [settings = std::move(settings)](const search::Problem& problem) {
    agent::AgentSettings own = settings;
    own.learner.seed = problem.seed;
    return agent::makePerfLlm(own, problem);
  };
  return out;
}

Result<Player> playerOf(const std::string& name, const AgentFiles& files) {
  agent::AgentSettings settings;
  settings.weights = files.weights;
  settings.checkpoint = files.checkpoint;
  if (name == kSubject) return agentPlayer(name, std::move(settings));
  if (name == kSettled) {
    settings.play.learnEvery = 0;
    return agentPlayer(name, std::move(settings));
  }
  for (const Ablation& one : all()) {
    if (name != named(one)) continue;
    // A checkpoint is of an agent that has all its parts.
    settings.checkpoint = agent::kUntrained;
    one.apply(settings);
    return agentPlayer(name, std::move(settings));
  }
  std::vector<std::string> known;
  for (const search::StrategyInfo& info : search::strategies()) {
    known.emplace_back(info.name);
    if (info.name != name) continue;
    Player out;
    out.name = out.logged = name;
    out.make = [make = info.make](
                   const search::Problem& problem) -> Result<std::unique_ptr<search::Strategy>> {
      return make(problem);
    };
    return out;
  }
  known.emplace_back(kSubject);
  known.emplace_back(kSettled);
  for (const std::string& one : ablations()) known.push_back(one);
  return Error{"search.strategy", "there is no strategy '" + name + "'" + didYouMean(name, known),
               "", ""};
}

Result<agent::Matrix> WordCounts::embed(const std::vector<std::string>& texts) {
  agent::Matrix out(texts.size(), width());
  for (std::size_t row = 0; row < texts.size(); ++row) {
    std::string word;
    const auto count = [&] {
      if (!word.empty()) out(row, contentHash(word) % width()) += 1;
      word.clear();
    };
    for (const char c : texts[row]) {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
        word += c;
        continue;
      }
      count();
      if (std::isspace(static_cast<unsigned char>(c)) == 0)
        out(row, contentHash({&c, 1}) % width()) += 1;
    }
    count();
  }
  return out;
}

}  // namespace dojo::contest
