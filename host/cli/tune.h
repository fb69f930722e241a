// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What tuning one kernel and tuning many share.
#pragma once

#include <string>

#include "cli/agent_options.h"
#include "cli/command.h"
#include "cli/workplace.h"
#include "kernels/kernels.h"
#include "search/search.h"
#include "tune/tuner.h"

namespace dojo::cli {

struct TuneArgs {
  KernelArgs kernel;
  MeasureArgs measure;
  std::string log;
  std::string strategy = "annealing";
  bool noExpert = false;
  bool noWarmStart = false;
  std::int64_t trials = 1000;
  double seconds = 0;
  std::string saveTrace;
  bool suite = false;
  std::string kernels;  ///< Those of --suite; empty: all.
  double minutes = 0;   ///< Of --suite; 0: until all have their trials.
  bool json = false;
  AgentArgs agent;

  /// As people call it.
  [[nodiscard]] std::string strategyName() const {
    return agent.agent.empty() ? strategy : agent.agent;
  }
};

/// What is wrong with the strategy ("search.strategy", the agent's errors) before anything is
/// started, and what part the agent has in it.
[[nodiscard]] Result<AgentUse> checkStrategy(const TuneArgs& args, const ir::Program& program,
                                             const target::Target& target);
[[nodiscard]] tune::Request requestFor(const TuneArgs& args, const LoadedKernel& kernel,
                                       const AgentUse& agent);
/// Multiply-adds per tick that all harts of the target can do, as measured; 0: not known.
[[nodiscard]] double measuredPeak(transport::Device& device, const target::Target& target,
                                  const std::string& dtype);
/// "120/1000 trials, 20 a second, baseline 1.2 ms, best 12 us, speed-up 100"
[[nodiscard]] std::string progressText(const search::Progress& progress, std::int64_t budget,
                                       double hz);
/// How a search's process ends where a kernel that doesn't return still holds the device.
[[noreturn]] void leaveBusyDevice(int code);

/// "softmax,matmul:M=64,N=64,./mine.dojo": what has a '=' and no ':' is one more parameter.
[[nodiscard]] std::vector<kernels::Case> parseCases(const std::string& text);

/// dojo tune --suite
int tuneSuite(const TuneArgs& args);

}  // namespace dojo::cli
