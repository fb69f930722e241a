// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A target that was reached, and benches on it: what run, play, env and replay measure with.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "base/outcome.h"
#include "base/result.h"
#include "cli/command.h"
#include "target/target.h"
#include "transport/device.h"
#include "tune/bench.h"

namespace dojo::cli {

/// How to measure; shared by all commands that do.
struct MeasureArgs {
  int threads = 1;
  std::string cache = "warm";
  std::uint64_t seed = 1;
  std::string runner;
};
void addMeasureOptions(CLI::App& command, MeasureArgs& args);

/// The target as `threads` harts of it see it: with one, nothing is offered to several.
[[nodiscard]] Result<target::Target> loadTarget(const std::string& name, int threads);

/// Where expected results that took long to compute are kept from run to run; empty: nowhere.
[[nodiscard]] std::string referenceFolder();

/// One kernel on one device; the device is reached when something is measured first.
class Workplace final : public search::Evaluator {
 public:
  Workplace(const target::Target& target, MeasureArgs args, ir::Program plain)
      : target_(target), args_(std::move(args)), plain_(std::move(plain)) {}

  /// What will be measured first (BenchOptions::first).
  void expect(ir::Program first) { first_ = std::move(first); }
  /// Reaches the device and prepares verification, if that wasn't done yet.
  [[nodiscard]] Status open();
  [[nodiscard]] const transport::Device& device() const { return *device_; }
  [[nodiscard]] tune::Bench& bench() { return *bench_; }

  /// What can't be opened fails as an outcome.
  void submit(const search::Candidate& candidate) override;
  std::optional<Outcome> next() override;

 private:
  const target::Target& target_;
  MeasureArgs args_;
  ir::Program plain_;
  std::optional<ir::Program> first_;
  std::unique_ptr<transport::Device> device_;
  std::unique_ptr<tune::Bench> bench_;
  std::optional<Error> broken_;
};

/// "1234 tsc cycles (median of 30, spread 0.4%), 590 ns, 12.3 GFLOP/s".
[[nodiscard]] std::string describe(const Measurement& measurement, const ir::Program& plain,
                                   double hz);
/// The same as members: cycles, spread, counter, seconds, gflops, gbytes_per_second...
void describeTo(Json& json, const Measurement& measurement, const ir::Program& plain, double hz);
/// Where moves have changed the layout of packed arguments, what their caller must hand over: one
/// line each, since the time for it isn't in any figure.
[[nodiscard]] std::string describePacking(const ir::Program& plain, const ir::Program& moved);
/// The same as a member: packed, the declarations by name.
void describePackingTo(Json& json, const ir::Program& plain, const ir::Program& moved);
/// "run.fault: ..."
[[nodiscard]] std::string describe(const Failure& failure);

}  // namespace dojo::cli
