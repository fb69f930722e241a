// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Verifying and timing candidates of one kernel on one device.
///
///   auto session = Session::open(device, target, program, inputSets, compare, options);
///   // compile threads: link::place(object, kEntry, session->slot(i).base, .capacity, symbols())
///   Outcome outcome = session->evaluate({.slot = i, .bytes = image.bytes, .entry = image.entry,
///                                        .scratchBytes = ...});
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/outcome.h"
#include "base/result.h"
#include "ir/interpret.h"
#include "ir/program.h"
#include "target/target.h"
#include "transport/device.h"

namespace dojo::measure {

/// A placed candidate.
struct Kernel {
  int slot = 0;                            ///< Where it was placed.
  std::span<const std::byte> bytes;        ///< Of the image, at slot(slot).base.
  std::uint64_t entry = 0;                 ///< Device address.
  std::vector<std::int64_t> scratchBytes;  ///< Buffers passed after the arguments.
  /// The arguments as this kernel declares them, where it wants some packed in another layout than
  /// the session's program; empty: the same. Inputs are packed and outputs unpacked outside of what
  /// is timed.
  std::vector<ir::Buffer> arguments;
};

/// What a comparison of outputs found.
struct Compared {
  double worstError = 0;  ///< Worst error over allowed error, 0..1.
  std::int64_t elements = 0;
  std::int64_t skipped = 0;
};
/// Compares what the kernel left for input set `set`: one span an argument in declared order, empty
/// for `in`. An Error ("verify.mismatch") says where it differs.
using Compare = std::function<Result<Compared>(
    int set, const std::vector<std::span<const std::byte>>& outputs)>;

struct Options {
  bool coldCache = false;  ///< Evict the kernel's buffers before each call.
  int harts = 1;
  int samples = 30;              ///< At most; sampling ends when the lower quantile is stable.
                                 ///< One where the same call always counts the same.
  double sampleSeconds = 20e-6;  ///< A batch lasts at least this long.
  double budgetSeconds = 0.5;    ///< For the samples of one candidate.
  double limitSeconds = 10;      ///< For one CALL.
  std::uint64_t seed = 1;        ///< Of poison and guard patterns.
};

/// Racing: stop measuring what is certainly worse than the best.
struct Race {
  /// Scores beyond this, less the spread, are cut and stored as censored.
  double score = std::numeric_limits<double>::infinity();
};

/// A place for code on the device.
struct CodeSlot {
  std::uint64_t base = 0;
  std::uint64_t capacity = 0;
};

/// Two kernels measured in turn.
struct Pairing {
  std::vector<double> a, b;  ///< Raw cycles of one call, pair by pair.
  double ratio = 1;          ///< Median of b/a: below 1, b is faster.
  double spread = 0;         ///< Half the interquartile range of b/a.
  bool tie = true;           ///< The median differs from 1 by no more than the spread.
};

class Session {
 public:
  /// Lays the buffers of every input set out on the device, with guard bands, and measures the cost
  /// of an empty kernel. `program` gives the arguments (its tmps are not used), `inputSets` one
  /// tensor an argument each; the first is the one that is timed, another one ends every timing.
  /// Where the target's counter 0 counts cycles or instructions of a machine that isn't real, the
  /// same call always counts the same: each set is then run once, the last one first to warm up.
  /// Errors: "load.size" (both numbers), "link.*", "run.*".
  [[nodiscard]] static Result<std::unique_ptr<Session>> open(
      transport::Device& device, const target::Target& target, const ir::Program& program,
      const std::vector<std::vector<ir::Tensor>>& inputSets, Compare compare,
      const Options& options = {});
  ~Session();

  /// Places for code, so that candidates can be placed while another one runs.
  [[nodiscard]] int slots() const;
  [[nodiscard]] CodeSlot slot(int index) const;
  /// What placed code may refer to.
  [[nodiscard]] const std::map<std::string, std::uint64_t>& symbols() const;

  /// Loads, verifies on every input set, times, and checks inputs after the timed ones. Never
  /// throws the session away: after any failure the next candidate can be evaluated. Failure codes:
  /// "load.size", "verify.mismatch", "verify.input-changed", "verify.guard", "measure.impossible",
  /// "run.*", "link.*".
  [[nodiscard]] Outcome evaluate(const Kernel& kernel, const Race& race = {});

  /// Interleaved raw time of two verified kernels in different slots, for the final order.
  [[nodiscard]] Result<Pairing> compareAB(const Kernel& a, const Kernel& b, int pairs = 30);

  /// Cycles of an empty call, subtracted from every sample.
  [[nodiscard]] double emptyCycles() const;
  /// A candidate below this many of the device's ticks is impossible; 0 (the default): not known.
  void setLeastCycles(double ticks);

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace dojo::measure
