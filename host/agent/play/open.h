// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// An agent from files, and the strategy that plays with it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/play/agent.h"
#include "agent/play/perfllm.h"
#include "agent/play/ranking.h"
#include "search/strategy.h"

namespace dojo::agent {

/// In place of a checkpoint's path: an agent that has learned nothing yet.
constexpr const char* kUntrained = "none";

struct AgentSettings {
  std::string weights;     ///< Of our own encoder; empty: those that ship.
  std::string checkpoint;  ///< Empty: the one that ships; kUntrained: none.
  /// In place of our own encoder something else that reads text.
  std::function<Result<std::unique_ptr<Embedder>>()> embedder;
  LearnerOptions learner;  ///< `network.width` is the embedder's.
  PlayOptions play;
};

struct OpenedAgent {
  std::unique_ptr<Agent> agent;
  std::vector<std::string> notes;  ///< What is worth telling, a sentence each.
  /// The hash of all that decides how it plays: embedder, checkpoint, options. Searches of equal
  /// seeds by agents of equal hashes are equal.
  std::string hash;
};

/// Files that ship are looked for as target descriptions are: in $DOJO_WEIGHTS, in share beside
/// the program's folder, in the source tree. Errors: "agent.missing" and those of loadEncoder() and
/// Agent::load().
[[nodiscard]] Result<OpenedAgent> openAgent(const AgentSettings& settings);

/// The strategy `perfllm`, with an agent of its own. Errors: openAgent()'s.
[[nodiscard]] Result<std::unique_ptr<search::Strategy>> makePerfLlm(const AgentSettings& settings,
                                                                    const search::Problem& problem);

/// Ranks the candidates of any strategy (search::Problem::ranker). Errors: loadEncoder()'s.
[[nodiscard]] Result<std::shared_ptr<Ranking>> makeRanking(const AgentSettings& settings);

/// Where a file that ships is ("encoder", "agent"); empty: nowhere.
[[nodiscard]] std::string shippedFile(const std::string& name);

}  // namespace dojo::agent
