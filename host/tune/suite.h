// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Tunes many kernels on one device in one time budget.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "tune/tuner.h"

namespace dojo::tune {

/// What became of one of them; an Error: it couldn't be tuned.
using SuiteOutcome = std::variant<Tuned, Error>;

struct SuiteHooks {
  /// What is going on, as a sentence; about request `which`.
  std::function<void(std::size_t which, const std::string&)> onNote;
  std::function<void(std::size_t which, const search::Progress&)> onProgress;
  /// The end of a turn. `left`: seconds of the budget that are left.
  std::function<void(std::size_t which, const search::Progress&, double left)> onTurn;
};

/// Tunes each request within its budget of trials, and all of them within `seconds` together, the
/// last measurements included: turns go to what still improves. Without a limit of seconds they're
/// tuned one after the other. Each is a run of the log as that of tune(): started again, it
/// continues. One that can't be tuned doesn't end the others. The outcomes stand in the order of
/// the requests.
[[nodiscard]] std::vector<SuiteOutcome> tuneSuite(const std::vector<Request>& requests,
                                                  double seconds, const target::Target& target,
                                                  transport::Device& device, log::Log& log,
                                                  const SuiteHooks& hooks);

}  // namespace dojo::tune
