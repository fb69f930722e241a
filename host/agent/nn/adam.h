// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Adam with decoupled weight decay, on gradients clipped to a length.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/nn/tape.h"
#include "base/result.h"

namespace dojo::agent {

struct AdamOptions {
  double rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double decay = 0;  ///< Of matrices; biases and gains (one row) are left alone.
  double clip = 0;   ///< Longest gradient of all parameters together; 0: any.
};

class Adam {
 public:
  Adam(Parameters& parameters, AdamOptions options);

  /// One step along the gradients, which are cleared. `factor` scales the rate (schedules). Error
  /// "agent.nan" where a gradient is NaN or infinite: then nothing was changed.
  [[nodiscard]] Status step(double factor = 1);
  [[nodiscard]] std::int64_t steps() const { return steps_; }
  [[nodiscard]] double lastNorm() const { return lastNorm_; }  ///< Of the gradients, unclipped.

  /// What a checkpoint holds besides the parameters, in their order.
  struct Moments {
    Matrix mean, square;
  };
  [[nodiscard]] const std::vector<Moments>& moments() const { return moments_; }
  /// The shapes must be those of the parameters.
  void restore(std::vector<Moments> moments, std::int64_t steps);

 private:
  Parameters& parameters_;
  AdamOptions options_;
  std::vector<Moments> moments_;
  std::int64_t steps_ = 0;
  double lastNorm_ = 0;
};

}  // namespace dojo::agent
