// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What a state is worth to the learner.
#pragma once

#include <array>

#include "base/outcome.h"
#include "target/target.h"

namespace dojo::agent {

/// What fails is as bad as a program this much slower than the plain one, e^-3 of its speed;
/// nothing that runs is worse.
constexpr double kFailureReward = -3;

/// log(baseline / cycles); of a measurement that was cut short with the cycles until then. Where
/// the plain program itself failed (`baseline` 0), 0 for whatever runs.
[[nodiscard]] double rewardOf(const Outcome& outcome, double baseline);
/// The same of scores, where failures are infinite.
[[nodiscard]] double rewardOfScore(double score, double baseline);

/// What the learner is told of a machine.
constexpr std::size_t kTargetFeatures = 16;
using TargetFeatures = std::array<float, kTargetFeatures>;
[[nodiscard]] TargetFeatures featuresOf(const target::Target& target);

}  // namespace dojo::agent
