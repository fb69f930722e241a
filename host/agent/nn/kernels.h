// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Loops over arrays of f32 that the compiler vectorises, one version for each width of vectors.
#pragma once

#include <cstddef>

namespace dojo::agent {

/// y += x * factor
void addScaled(float* y, const float* x, float factor, std::size_t n);
/// y += x
void addTo(float* y, const float* x, std::size_t n);
/// y += a * b, element by element
void addProduct(float* y, const float* a, const float* b, std::size_t n);
[[nodiscard]] float dot(const float* a, const float* b, std::size_t n);
[[nodiscard]] float sumOf(const float* x, std::size_t n);

/// exp within 3 ULP; below -87 it is 0 or next to it, above 88 it stays finite.
void expOf(float* y, const float* x, std::size_t n);
/// x becomes exp(x - max) / sum of those.
void softmaxInPlace(float* x, std::size_t n);

/// GELU by its tanh form, x * sigmoid(2 sqrt(2/pi) (x + 0.044715 x^3)).
void geluOf(float* y, const float* x, std::size_t n);
/// dx += dy * GELU'(x)
void addGeluGradient(float* dx, const float* x, const float* dy, std::size_t n);

/// y = (x - mean) / sqrt(variance + eps); returns 1 / sqrt(variance + eps).
float normalise(float* y, const float* x, std::size_t n, float eps);

/// One step of Adam on a parameter (see adam.h).
struct AdamFactors {
  float beta1, beta2, step, epsilon, decay;
};
void adamStep(float* value, float* mean, float* square, const float* grad, std::size_t n,
              const AdamFactors& f);
/// y += (x - y) * rate
void moveTowards(float* y, const float* x, float rate, std::size_t n);

}  // namespace dojo::agent
