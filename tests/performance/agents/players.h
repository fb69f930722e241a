// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Who takes part in a contest: the strategies of search, the learned agent, and the agent with one
/// part of it taken away.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/play/open.h"
#include "base/result.h"
#include "search/strategy.h"

namespace dojo::contest {

struct Player {
  std::string name;
  /// Under which its searches are logged: players of equal names here and equal seeds search alike.
  std::string logged;
  std::function<Result<std::unique_ptr<search::Strategy>>(const search::Problem&)> make;
};

/// What the agent is made of, where it takes part.
struct AgentFiles {
  std::string weights, checkpoint;  ///< As in agent::AgentSettings.
};

/// Those of search, then "perfllm".
[[nodiscard]] std::vector<std::string> usualPlayers();
/// "perfllm untrained", and that without one thing each.
[[nodiscard]] std::vector<std::string> ablations();

/// The untrained agent, the trained one, and that without learning while it plays.
[[nodiscard]] std::vector<std::string> transferPlayers();

/// Errors: "search.strategy", those of openAgent().
[[nodiscard]] Result<Player> playerOf(const std::string& name, const AgentFiles& files);
/// An agent under a name of its own.
[[nodiscard]] Result<Player> agentPlayer(const std::string& name, agent::AgentSettings settings);

/// In place of the encoder: how often each word stands in a text, words thrown together by their
/// hash.
class WordCounts final : public agent::Embedder {
 public:
  [[nodiscard]] std::size_t width() const override { return 128; }
  [[nodiscard]] std::string identity() const override { return "counts of words"; }
  [[nodiscard]] Result<agent::Matrix> embed(const std::vector<std::string>& texts) override;
};

}  // namespace dojo::contest
