// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Tunes a kernel on a device: search, log and bench put together.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/outcome.h"
#include "base/result.h"
#include "log/log.h"
#include "moves/move.h"
#include "search/search.h"
#include "target/target.h"
#include "transport/device.h"
#include "tune/drift.h"

namespace dojo::tune {

struct Request {
  std::string kernel, shape, dtype;
  ir::Program plain;
  ir::Program start;        ///< Where the search starts; mostly `plain`.
  moves::Trace startTrace;  ///< From `plain` to `start`.
  std::string strategy = "annealing";
  /// Makes the strategy, where search knows none of its name. `strategy` then tells strategies
  /// apart in all that the path of the search depends on.
  std::function<Result<std::unique_ptr<search::Strategy>>(const search::Problem&)> makeStrategy;
  /// See search::Problem; `strategy` then tells rankers apart, too.
  std::function<Result<std::shared_ptr<search::Ranker>>()> makeRanker;
  bool expert = true;  ///< See search::Problem.
  /// Schedules that the log has of the same kernel at other shapes are tried first; a run keeps
  /// those that it began with, however the log grows.
  bool warmStart = true;
  std::uint64_t seed = 1;
  search::Budget budget;
  bool coldCache = false;
  std::string referenceFolder;  ///< See measure::VerifierOptions::cacheFolder.
  std::string tool;             ///< Version of this program.
  /// Multiply-adds per tick that the device can do at most; 0: not known. What beats it by far is
  /// a fault of the measurement.
  double peakTermsPerTick = 0;
  const std::atomic<bool>* interrupted = nullptr;  ///< Set: end soon, with what there is.
};

/// One of the best, measured again with new inputs.
struct Final {
  log::Trial trial;
  bool plain = false;
  bool tie = false;  ///< Not certainly slower than the winner.
};

struct Tuned {
  search::End end = search::End::trials;
  std::string run;  ///< Id of the run in the log.
  std::int64_t trials = 0, measured = 0, failures = 0;
  std::int64_t pruned = 0;  ///< Left out as certainly slow, without compiling them.
  std::map<std::string, std::int64_t> failureCodes;
  double seconds = 0;         ///< Of this process.
  TimeSplit time;             ///< Of all trials that were measured in this process.
  double searching = 0;       ///< Seconds that these took.
  double baseline = 0;        ///< Cycles of the plain program; 0: it failed.
  double best = 0;            ///< Cycles of the winner; 0: nothing could be measured.
  double spread = 0;          ///< Of the winner.
  std::vector<Drift> drifts;  ///< Of the device, while the run searched.
  log::Trial winner;
  std::vector<Final> finals;  ///< The winner first; empty where the search was stopped.
  /// After a stop: a kernel that hasn't returned still holds the device, and a thread of ours waits
  /// for it. Leave by std::_Exit.
  bool deviceBusy = false;

  /// Of the search's time, how much the device wasn't at work: the tuner's own share.
  [[nodiscard]] double ownShare() const {
    const double device = time.transfer + time.verify + time.run;
    return searching > device ? 1 - device / searching : 0;
  }
  [[nodiscard]] double speedup() const { return best > 0 ? baseline / best : 0; }
};

struct TuneHooks {
  /// What is going on, as a sentence.
  std::function<void(const std::string&)> onNote;
  std::function<void(const search::Progress&)> onProgress;
};

/// The tuning of one kernel, a slice at a time: between slices others may use the device.
class Tuner {
 public:
  /// Continues the run with the same settings where the log has one. `target`, `device` and `log`
  /// outlive this. Nothing is measured yet. Errors: as Log and Search, "tune.size".
  [[nodiscard]] static Result<std::unique_ptr<Tuner>> open(Request request,
                                                           const target::Target& target,
                                                           transport::Device& device, log::Log& log,
                                                           TuneHooks hooks);
  ~Tuner();

  /// Searches for `seconds`, not counting what is prepared first, or until `trials` outcomes are
  /// there in all. Errors: as Bench, Log and Search.
  [[nodiscard]] Result<search::End> advance(std::int64_t trials, double seconds);
  [[nodiscard]] search::Progress progress() const;
  /// Trials that the log had when this was opened; advancing to them measures nothing.
  [[nodiscard]] std::int64_t recorded() const;
  /// What drawing inputs and computing results took the last time.
  [[nodiscard]] double preparing() const;
  /// What finish() may take, in seconds; 0 where nothing was measured here.
  [[nodiscard]] double finishing() const;
  /// Measures the best again, interleaved, on new inputs: the winner is never slower than the plain
  /// program. Where the log has that of the same programs, it's taken from there. `end`: how the
  /// search ended; after a stop nothing is measured. Nothing is advanced after.
  [[nodiscard]] Result<Tuned> finish(search::End end);

 private:
  struct State;
  explicit Tuner(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// All of it at once, within the request's budget. `target.harts` harts run a candidate.
[[nodiscard]] Result<Tuned> tune(const Request& request, const target::Target& target,
                                 transport::Device& device, log::Log& log, const TuneHooks& hooks);

/// The settings under which a request is logged.
[[nodiscard]] log::RunSettings settingsOf(const Request& request, const target::Target& target,
                                          const transport::Device& device);

}  // namespace dojo::tune
