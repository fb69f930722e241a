// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Every subcommand, one file each.
#pragma once

#include <CLI/CLI.hpp>

namespace dojo::cli {

void addKernels(CLI::App& app);
void addShow(CLI::App& app);
void addMoves(CLI::App& app);
void addCheck(CLI::App& app);
void addPlay(CLI::App& app);
void addRun(CLI::App& app);
void addTune(CLI::App& app);
void addTrain(CLI::App& app);
void addProfile(CLI::App& app);
void addReplay(CLI::App& app);
void addLog(CLI::App& app);
void addReport(CLI::App& app);
void addEnv(CLI::App& app);
void addTarget(CLI::App& app);
void addSelfcheck(CLI::App& app);

}  // namespace dojo::cli
