// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The learned agent on the command line.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "agent/play/open.h"
#include "base/result.h"
#include "tune/tuner.h"

namespace dojo::cli {

constexpr const char* kAgentStrategy = "perfllm";

struct AgentArgs {
  std::string agent;                    ///< kAgentStrategy: it plays.
  std::string checkpoint;               ///< As agent::AgentSettings::checkpoint.
  std::string weights;                  ///< As agent::AgentSettings::weights.
  std::string embedder, embedderModel;  ///< As agent::RemoteOptions::url and model.
  bool noLearn = false;
  bool rank = false;  ///< The learned cost model ranks what a strategy draws.
};
/// --agent-file, --embedder, --no-learn, --embedding, --agent and --rank; without `choose` neither
/// of the last two, and --encoder in place of --embedding.
void addAgentOptions(CLI::App& command, AgentArgs& args, bool choose);

[[nodiscard]] agent::AgentSettings settingsOf(const AgentArgs& args);

/// How a request's strategy is made where the agent has a part in it; for others nothing changes.
struct AgentUse {
  /// The name under which runs are logged: with what pins the agent at their start. Empty: no
  /// agent.
  std::string name;
  std::string ranked;  ///< Of a ranker, what pins it; empty: none.
  std::vector<std::string> notes;
  agent::AgentSettings settings;

  void applyTo(tune::Request& request) const;
};
/// Opens the agent once, so that what is wrong with it is told before anything is started.
[[nodiscard]] Result<AgentUse> useAgent(const AgentArgs& args, const std::string& strategy);

}  // namespace dojo::cli
