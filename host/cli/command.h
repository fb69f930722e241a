// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What every subcommand shares: results go to standard output, all chatter to standard error;
/// exit codes are 0 (done), 1 (the work failed), 2 (wrong usage).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/result.h"
#include "ir/parse.h"
#include "moves/move.h"
#include "target/target.h"

namespace dojo::cli {

/// Members stand in the order in which they were set.
using Json = nlohmann::ordered_json;

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;

/// Prints "dojo: ERROR" and gives the exit code: kUsage where a name or value on the command line
/// means nothing, kFailed elsewhere.
int fail(const Error& error);
/// A JSON object for an error: {"error": {"code", "message", "where"}}.
[[nodiscard]] Json toJson(const Error& error);
/// fail(), and with `json` the object on standard output too.
int fail(const Error& error, bool json);
/// One line; bytes that aren't UTF-8 are replaced.
[[nodiscard]] std::string dump(const Json& json);

/// Declares a subcommand; `run` gives the exit code. The example ends its help.
CLI::App* addCommand(CLI::App& app, const std::string& name, const std::string& description,
                     const std::string& example, std::function<int()> run);

/// The options that choose a program: --shape, --dtype, --target, --trace, --expert and the kernel
/// itself.
struct KernelArgs {
  std::string kernel;  ///< Name in the suite, or path of a .dojo file.
  std::string shape;   ///< "M=16,N=16"
  std::string dtype;
  std::string target = "host";
  std::string traceFile;
  bool expert = false;
};
void addKernelOptions(CLI::App& command, KernelArgs& args);
void addTargetOption(CLI::App& command, std::string& target);

/// A kernel instantiated and checked, with the moves of --trace and --expert.
struct LoadedKernel {
  ir::Program program;  ///< The plain program.
  std::string shape;    ///< All parameters: "M=512,N=512,K=512".
  std::string dtype;
  moves::Trace trace;
  ir::Program start;  ///< After the moves.

  /// "matmul (M=512,N=512,K=512, f32)"
  [[nodiscard]] std::string describe() const;
};
[[nodiscard]] Result<LoadedKernel> loadKernel(const KernelArgs& args, const target::Target& target);
/// "M=16,N=16" to numbers. Error "cli.shape".
[[nodiscard]] Result<std::map<std::string, std::int64_t>> parseShape(const std::string& text);

/// True where standard error / output is a terminal.
[[nodiscard]] bool errorIsTerminal();
[[nodiscard]] bool outputIsTerminal();

}  // namespace dojo::cli
