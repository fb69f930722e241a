// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/agent_options.h"

#include <filesystem>

#include "agent/remote/remote.h"
#include "cli/interrupt.h"
#include "cli/workplace.h"

namespace dojo::cli {

void addAgentOptions(CLI::App& command, AgentArgs& args, bool choose) {
  if (choose) {
    command
        .add_option("--agent", args.agent,
                    "A learned agent plays, in place of --strategy, and goes on learning")
        ->check(CLI::IsMember({kAgentStrategy}))
        ->excludes(command.get_option("--strategy"));
    command.add_flag("--rank", args.rank,
                     "A learned model of costs ranks what the strategy draws; the most promising "
                     "is measured");
  }
  command.add_option("--agent-file", args.checkpoint,
                     "The agent's checkpoint; by default the one that ships; none: an agent that "
                     "has learned nothing yet");
  command.add_option(choose ? "--embedding" : "--encoder", args.weights,
                     "Weights of the encoder that reads programs; by default those that ship");
  command.add_option("--embedder", args.embedder,
                     "URL of a server that reads programs in place of the encoder, by the "
                     "OpenAI-compatible /v1/embeddings; its key is $DOJO_EMBEDDER_KEY");
  command.add_option("--embedder-model", args.embedderModel, "The model that it is asked for")
      ->needs("--embedder");
  command.add_flag("--no-learn", args.noLearn, "The agent plays by what it knows alone");
}

agent::AgentSettings settingsOf(const AgentArgs& args) {
  agent::AgentSettings out;
  out.checkpoint = args.checkpoint;
  out.weights = args.weights;
  if (args.noLearn) out.play.learnEvery = 0;
  if (!args.embedder.empty()) {
    agent::RemoteOptions remote;
    remote.url = args.embedder;
    remote.model = args.embedderModel;
    remote.interrupted = &interrupted();
    if (const std::filesystem::path references = referenceFolder(); !references.empty()) {
      remote.cacheFolder = (references.parent_path() / "embeddings").string();
    }
    out.embedder = [remote] { return agent::openRemoteEmbedder(remote); };
  }
  return out;
}

void AgentUse::applyTo(tune::Request& request) const {
  if (!ranked.empty()) {
    request.makeStrategy = [strategy = request.strategy](const search::Problem& problem) {
      return search::makeStrategy(strategy, problem);
    };
    request.strategy += " ranked by " + ranked;
    request.makeRanker = [made = settings]() -> Result<std::shared_ptr<search::Ranker>> {
      Result<std::shared_ptr<agent::Ranking>> ranking = agent::makeRanking(made);
      if (!ranking.ok()) return ranking.error();
      return std::shared_ptr<search::Ranker>(std::move(ranking).value());
    };
  }
  if (name.empty()) return;
  request.strategy = name;
  request.makeStrategy = [made = settings](const search::Problem& problem) {
    return agent::makePerfLlm(made, problem);
  };
}

Result<AgentUse> useAgent(const AgentArgs& args, const std::string& strategy) {
  AgentUse out;
  out.settings = settingsOf(args);
  if (args.agent.empty() && strategy != kAgentStrategy) {
    if (!args.rank) return out;
    agent::AgentSettings reader = out.settings;
    reader.checkpoint = agent::kUntrained;
    const Result<agent::OpenedAgent> opened = agent::openAgent(reader);
    if (!opened.ok()) return opened.error();
    out.ranked = opened->hash;
    return out;
  }
  Result<agent::OpenedAgent> opened = agent::openAgent(out.settings);
  if (!opened.ok()) return opened.error();
  out.name = std::string(kAgentStrategy) + " " + opened->hash;
  out.notes = std::move(opened->notes);
  return out;
}

}  // namespace dojo::cli
