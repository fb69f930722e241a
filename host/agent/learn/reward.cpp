// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/learn/reward.h"

#include <algorithm>
#include <cmath>

#include "target/lanes.h"
#include "target/registers.h"

namespace dojo::agent {

double rewardOf(const Outcome& outcome, double baseline) {
  if (!outcome.ok()) return kFailureReward;
  return rewardOfScore(outcome.measurement().cycles, baseline);
}

double rewardOfScore(double score, double baseline) {
  if (!std::isfinite(score)) return kFailureReward;
  if (!std::isfinite(baseline) || baseline <= 0 || score <= 0) return 0;
  return std::max(std::log(baseline / score), kFailureReward);
}

TargetFeatures featuresOf(const target::Target& target) {
  const auto logarithm = [](double value) { return static_cast<float>(std::log2(1 + value) / 8); };
  const auto flag = [](bool value) { return value ? 1.0F : 0.0F; };
  return {logarithm(target.vector.bits),
          flag(target.vector.scalable),
          logarithm(target.vector.grouping),
          logarithm(target.vector.registers),
          flag(target.vector.fma),
          logarithm(target::scalarRegisters(target, true)),
          logarithm(target::scalarRegisters(target, false)),
          logarithm(target.harts),
          logarithm(target.streams.movers),
          logarithm(target.hardwareLoop.instructions),
          flag(target.divides),
          flag(target.cyclesAreTime),
          flag(target.offersMapping("parallel")),
          flag(target.offersMapping("dma")),
          flag(target.offersMapping("grid")),
          logarithm(static_cast<double>(target.unrollLimit))};
}

}  // namespace dojo::agent
