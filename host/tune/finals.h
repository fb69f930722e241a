// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The last measurement of the best, interleaved, on new inputs. Internal to host/tune.
#pragma once

#include <vector>

#include "base/result.h"
#include "search/evaluator.h"
#include "tune/tuner.h"

namespace dojo::tune {

/// All of a trial's time.
[[nodiscard]] double wallOf(const TimeSplit& time);

/// Measures the finalists again, interleaved, on inputs that no candidate has seen. Returns them
/// with the winner first; an empty list where it was stopped.
[[nodiscard]] Result<std::vector<Final>> measureFinals(
    const Request& request, const target::Target& target, transport::Device& device,
    const std::vector<search::Candidate>& finalists);

/// The last finals among a run's rows of that kind, winner first; empty where they aren't of these
/// programs: the search went on since.
[[nodiscard]] std::vector<Final> recordedFinals(const std::vector<log::Trial>& rows,
                                                const std::vector<search::Candidate>& finalists,
                                                const std::string& plain);

}  // namespace dojo::tune
