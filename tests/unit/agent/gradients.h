// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Gradients against differences of the function itself.
#pragma once

#include <cmath>
#include <functional>

#include <catch2/catch.hpp>

#include "agent/nn/tape.h"

namespace dojo::test {

using Loss = std::function<agent::Var(agent::Tape&)>;

inline double valueOf(const Loss& loss) {
  agent::Tape tape(false);
  return loss(tape).value()(0, 0);
}

/// Checks the gradient of every parameter: element by element (some of them, where there are many)
/// and along a random direction of all at once.
inline void checkGradients(agent::Parameters& parameters, const Loss& loss,
                           double tolerance = 0.01) {
  parameters.clearGradients();
  {
    agent::Tape tape(true);
    tape.backward(loss(tape));
  }
  constexpr float kStep = 1e-2F;
  search::Random random(7);
  const double norm = parameters.gradientNorm();
  REQUIRE(norm > 0);
  for (agent::Parameter& one : parameters.all()) {
    INFO("parameter " << one.name);
    const std::size_t count = std::min<std::size_t>(one.value.size(), 24);
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t at = count == one.value.size() ? k : random.below(one.value.size());
      float& x = one.value.data()[at];
      const float before = x;
      x = before + kStep;
      const double above = valueOf(loss);
      x = before - kStep;
      const double below = valueOf(loss);
      x = before;
      const double slope = (above - below) / (2 * kStep);
      INFO("element " << at);
      CHECK(one.grad.data()[at] == Approx(slope).epsilon(tolerance).margin(0.002 * (1 + norm)));
    }
  }
  // Along a direction in which each parameter changes by about as much as its gradient says.
  std::vector<std::vector<float>> direction;
  double along = 0;
  for (agent::Parameter& one : parameters.all()) {
    std::vector<float> d(one.value.size());
    for (std::size_t k = 0; k < d.size(); ++k) {
      d[k] = static_cast<float>((one.grad.data()[k] / norm) * (0.5 + random.real()));
      along += static_cast<double>(d[k]) * one.grad.data()[k];
    }
    direction.push_back(std::move(d));
  }
  auto shift = [&](float by) {
    std::size_t p = 0;
    for (agent::Parameter& one : parameters.all()) {
      for (std::size_t k = 0; k < one.value.size(); ++k) {
        one.value.data()[k] += by * direction[p][k];
      }
      ++p;
    }
  };
  shift(kStep);
  const double above = valueOf(loss);
  shift(-2 * kStep);
  const double below = valueOf(loss);
  shift(kStep);
  CHECK(along == Approx((above - below) / (2 * kStep)).epsilon(tolerance));
}

}  // namespace dojo::test
