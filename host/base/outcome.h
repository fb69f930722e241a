// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What became of one candidate: a measurement or a failure. Search sees nothing else of a device.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dojo {

/// Where the wall time of a trial went, in seconds.
struct TimeSplit {
  double compile = 0;   ///< lower, emit, object, placing
  double transfer = 0;  ///< code and data to and from the device
  double verify = 0;    ///< verification calls and comparison
  double run = 0;       ///< timed calls
  double queue = 0;     ///< waiting for the device; counts against nothing
};

/// A verified, timed candidate.
struct Measurement {
  /// Raw samples in the target's cycle unit (see `counter`), for one call each: batch total over
  /// calls in the batch, empty-kernel cost subtracted.
  std::vector<double> samples;
  /// Sample over the interleaved dependent-multiply chain of the same moment; empty where the
  /// target has none. Its median steers a search on the host.
  std::vector<double> ratios;
  std::int64_t callsPerSample = 1;
  double cycles = 0;    ///< Median of samples.
  double score = 0;     ///< What is compared (lower is better): median ratio, else cycles.
  double spread = 0;    ///< Half the interquartile range of what is compared, over its median.
  std::string counter;  ///< "tsc", "perf-cycles", "mcycle", "icount" ...
  std::string cache = "warm";
  bool censored = false;  ///< Cut by racing: `cycles` is only a lower bound.
  /// Worst error over allowed error over all compared elements and input sets, 0..1; and counts.
  double worstError = 0;
  std::int64_t comparedElements = 0;
  std::int64_t skippedElements = 0;
};

/// Stages a candidate can fail in; never mistaken for one another.
enum class Stage : std::uint8_t { lower, compile, load, verify, run, link, queue };
[[nodiscard]] std::string_view name(Stage stage);

struct Failure {
  Stage stage = Stage::run;
  std::string code;    ///< Stable, e.g. "run.fault", "run.timeout", "verify.mismatch".
  std::string detail;  ///< One sentence.
};

struct Outcome {
  std::variant<Measurement, Failure> result;
  TimeSplit time;

  [[nodiscard]] bool ok() const { return result.index() == 0; }
  [[nodiscard]] const Measurement& measurement() const { return std::get<Measurement>(result); }
  [[nodiscard]] Measurement& measurement() { return std::get<Measurement>(result); }
  [[nodiscard]] const Failure& failure() const { return std::get<Failure>(result); }
};

}  // namespace dojo
