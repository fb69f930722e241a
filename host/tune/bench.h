// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A kernel on a device: compiles candidates ahead of the device and has them verified and timed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/program.h"
#include "log/log.h"
#include "measure/session.h"
#include "measure/verification.h"
#include "search/evaluator.h"
#include "target/target.h"
#include "transport/device.h"

namespace dojo::tune {

struct BenchOptions {
  int harts = 1;
  std::uint64_t seed = 1;  ///< Of the inputs.
  bool coldCache = false;
  std::string referenceFolder;  ///< See measure::VerifierOptions::cacheFolder.
  /// A candidate that is certainly this many times slower than the best is cut.
  double raceFactor = 2;
  int depth = 4;
  /// What is measured first, where that is known: if the device can't hold its buffers, that is
  /// said before anything is computed.
  std::optional<ir::Program> first;
  const std::atomic<bool>* interrupted = nullptr;  ///< Set: the evaluation stops.
};

/// A device that was reached. One bench at a time uses it.
[[nodiscard]] Result<std::unique_ptr<transport::Device>> reach(const target::Target& target,
                                                               const std::string& runnerPath);
/// Ticks a second of counter 0, by which a count is a time; 0 where it isn't known, or where what
/// is counted is no time of a device (an emulator's instructions).
[[nodiscard]] double tickRate(const target::Target& target, const transport::Device& device);
/// Fingerprint::description of a target of which `harts` harts are used.
[[nodiscard]] std::string describedBy(const target::Target& target, int harts);
[[nodiscard]] log::Fingerprint fingerprint(const target::Target& target,
                                           const transport::Device& device);

class Bench final : public search::Evaluator {
 public:
  /// Draws inputs, computes their references, and lays them out on the device. `device` and
  /// `target` outlive this. Errors: "verify.*", "load.*", "link.*".
  [[nodiscard]] static Result<std::unique_ptr<Bench>> open(const ir::Program& program,
                                                           const target::Target& target,
                                                           transport::Device& device,
                                                           const BenchOptions& options);
  ~Bench() override;

  int depth() const override;
  void submit(const search::Candidate& candidate) override;
  std::optional<Outcome> next() override;

  /// Ends the evaluation from any thread: next() returns nullopt from now on.
  void stop();
  /// True once the device is idle; waits up to `seconds` for it. A kernel that doesn't return
  /// may hold it.
  [[nodiscard]] bool idle(double seconds);

  /// Programs that are refused without running them ("run.banned").
  void ban(const std::string& text);
  /// A candidate below this many ticks is impossible.
  void setLeastCycles(double ticks);
  /// The best score so far, against which candidates race; lower ones replace it.
  void setBest(double score);

  /// The input sets in use, and those that prove nothing for this kernel.
  [[nodiscard]] const std::vector<measure::VerifiedSet>& inputSets() const;
  [[nodiscard]] const std::vector<measure::VerifiedSet>& droppedSets() const;

  /// Measures two programs in turn on the raw counter. Nothing may be in flight.
  [[nodiscard]] Result<measure::Pairing> compare(const ir::Program& a, const ir::Program& b,
                                                 int pairs = 30);

 private:
  struct State;
  explicit Bench(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace dojo::tune
