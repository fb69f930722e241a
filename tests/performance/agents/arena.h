// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Where contests are held: searches on a target's device, each logged, and none done twice.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/program.h"
#include "log/log.h"
#include "performance/agents/contest.h"
#include "performance/agents/players.h"
#include "target/target.h"
#include "transport/device.h"

namespace dojo::contest {

/// A kernel at a shape.
struct Subject {
  std::string kernel;
  std::map<std::string, std::int64_t> shape;
};
/// Those that nobody trains on.
[[nodiscard]] const std::vector<Subject>& heldOut();
/// "softmax,matmul:M=8,N=6,K=4": without a shape that of heldOut(), else the kernel's own.
[[nodiscard]] Result<std::vector<Subject>> subjectsOf(const std::string& text);

class Arena {
 public:
  /// `log` outlives this. One hart, which everybody has.
  [[nodiscard]] static Result<std::unique_ptr<Arena>> open(const std::string& target, log::Log& log,
                                                           const std::string& folder,
                                                           const std::atomic<bool>& interrupted);

  /// One search of `trials` measured trials, from the plain program, without the expert or what the
  /// log has; from the log as far as it's there. Error "contest.stopped" after an interruption.
  [[nodiscard]] Result<Row> play(const Subject& subject, const Player& player, std::uint64_t seed,
                                 std::int64_t trials);
  /// Where the clock of the device isn't its own, the best of all these searches of one subject
  /// are measured once more side by side, and the rows hold that then.
  [[nodiscard]] Status together(const Subject& subject, std::vector<Row*> rows);

  [[nodiscard]] const target::Target& target() const { return target_; }

 private:
  struct Loaded {
    ir::Program plain;
    std::string shape, dtype;
    double peak = 0;
  };
  Arena(target::Target target, log::Log& log, std::string folder,
        const std::atomic<bool>& interrupted)
      : target_(std::move(target)),
        log_(log),
        folder_(std::move(folder)),
        interrupted_(interrupted) {}
  [[nodiscard]] Result<Loaded> load(const Subject& subject);
  [[nodiscard]] Result<Row> read(const log::Run& run, const Loaded& loaded) const;
  /// Measures programs several times in turn: the middle one of each.
  [[nodiscard]] Result<std::vector<log::Trial>> measure(const Loaded& loaded,
                                                        const std::vector<std::string>& texts);

  target::Target target_;
  log::Log& log_;
  std::string folder_;
  const std::atomic<bool>& interrupted_;
  std::unique_ptr<transport::Device> device_;
  std::map<std::string, double> peaks_;  ///< By dtype.
};

}  // namespace dojo::contest
