// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What a report shows of a log. Figures of two devices (target, fingerprint, cache) never meet.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "log/log.h"

namespace dojo::cli {

/// A measured time and where it stands.
struct Figure {
  double cycles = 0;
  std::int64_t row = 0;
};

/// The best so far over the trials of one run.
struct Curve {
  std::string run, strategy;
  std::uint64_t seed = 0;
  std::int64_t trials = 0;
  struct Step {
    std::int64_t index;  ///< Of the trial that was the first to reach it.
    Figure best;
  };
  std::vector<Step> steps;
  std::vector<std::string> drifts;  ///< Of the device meanwhile, each a sentence.
};

/// A kernel at a shape.
struct ReportKernel {
  std::string kernel, shape, dtype, source;
  std::int64_t trials = 0, failures = 0;
  std::optional<Figure> plain, best;
  double spread = 0;            ///< Of the best.
  bool last = false;            ///< The best is of a last measurement (a final).
  std::string program, trace;   ///< Of the best.
  std::optional<double> flops;  ///< Of one call; nullopt: not known, or none.
  double bytes = 0;             ///< Of one call; 0: not known.
  std::vector<Curve> curves;
  struct Failures {
    std::int64_t count = 0, row = 0;  ///< The first of them.
    std::string detail;
  };
  std::map<std::string, Failures> failed;  ///< By code.

  /// Operations and bytes a tick; nullopt where they aren't known.
  [[nodiscard]] std::optional<double> flopRate() const;
  [[nodiscard]] std::optional<double> byteRate() const;
};

struct ReportDevice {
  std::string target, cache;
  log::Fingerprint fingerprint;
  double hz = 0;  ///< Of the counter, as the fingerprint has it; 0: not known.
  std::vector<ReportKernel> kernels;
};

/// In the order in which they came into the log.
[[nodiscard]] Result<std::vector<ReportDevice>> gather(const log::Log& log);

}  // namespace dojo::cli
