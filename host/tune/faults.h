// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Trials over a link that spoils frames, with kernels that hang or crash and devices that die:
/// each trial must end in its own way, once, and with its own samples.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "target/target.h"
#include "transport/device.h"
#include "transport/faulty.h"

namespace dojo::tune {

struct FaultOptions {
  std::int64_t trials = 10000;
  transport::Faults faults;
  int hangs = 20, crashes = 20, deaths = 5;  ///< Among the trials, by the seed.
  std::uint64_t seed = 1;
  std::string runnerPath;
  double limitSeconds = 0.05;  ///< Of a CALL: what a kernel that hangs costs.
  double retrySeconds = 0.02;
  /// Called after each trial; false stops.
  std::function<bool(std::int64_t done)> onTrial;
};

struct FaultReport {
  std::int64_t trials = 0;
  std::int64_t spoiled = 0;                   ///< Frames.
  std::int64_t samples = 0;                   ///< That came.
  std::map<std::string, std::int64_t> ended;  ///< Trials by code; "ok".
  std::vector<std::string> wrong;             ///< What mustn't be, at most the first 20.
  std::int64_t wrongTrials = 0;
  transport::LinkStatistics link;
  double seconds = 0;
};

/// Every trial writes code and inputs of its own, runs them and reads what they left: an `inout`
/// buffer that grows with each call tells how often they ran, and with which inputs. Errors: those
/// of reaching the device and of compiling.
[[nodiscard]] Result<FaultReport> checkFaults(const target::Target& target,
                                              const FaultOptions& options);

}  // namespace dojo::tune
