// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// dojo train without --embedding: the agent learns by playing on devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/agent_options.h"

namespace dojo::cli {

struct TrainPlayArgs {
  std::vector<std::string> targets, kernels;
  std::int64_t games = 120;   ///< In all.
  std::int64_t trials = 100;  ///< Of a game.
  std::uint64_t seed = 1;
  std::string folder, log, runner;
  bool fixedShapes = false;  ///< Kernels as they're given; else their sizes vary.
  double learn = 1;          ///< Steps of learning after a game, for each of its trials.
  AgentArgs agent;
};

int trainPlay(const TrainPlayArgs& args);

}  // namespace dojo::cli
