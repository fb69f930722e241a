// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/nn/kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

// Several versions of a function, chosen at start-up by what the processor has. Under the
// sanitizers (which come up later than that choice) there is one.
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_ADDRESS__)
#define DOJO_WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define DOJO_WIDE
#endif

namespace dojo::agent {
namespace {

/// Sums are kept in this many parts, so that they vectorise in one fixed order.
constexpr std::size_t kParts = 32;

inline __attribute__((always_inline)) float exponential(float x) {
  x = std::min(std::max(x, -87.0F), 88.0F);
  // The nearest whole number of halvings or doublings.
  const float magic = 12582912.0F;
  const float n = (x * 1.44269504F + magic) - magic;
  const float r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1.0F;
  const auto exponent = static_cast<std::int32_t>(n);
  return p * std::bit_cast<float>((exponent + 127) << 23);
}

constexpr float kGeluScale = 1.5957691216F;
constexpr float kGeluCube = 0.044715F;

inline __attribute__((always_inline)) float logistic(float x) {
  return 1.0F / (1.0F + exponential(-x));
}

inline __attribute__((always_inline)) float total(const float* parts) {
  float sum = 0;
  for (std::size_t k = 0; k < kParts; ++k) sum += parts[k];
  return sum;
}

}  // namespace

DOJO_WIDE void addScaled(float* y, const float* x, float factor, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] += x[i] * factor;
}

DOJO_WIDE void addTo(float* y, const float* x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] += x[i];
}

DOJO_WIDE void addProduct(float* y, const float* a, const float* b, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] += a[i] * b[i];
}

DOJO_WIDE float dot(const float* a, const float* b, std::size_t n) {
  float parts[kParts] = {};
  std::size_t i = 0;
  for (; i + kParts <= n; i += kParts) {
    for (std::size_t k = 0; k < kParts; ++k) parts[k] += a[i + k] * b[i + k];
  }
  for (std::size_t k = 0; i + k < n; ++k) parts[k] += a[i + k] * b[i + k];
  return total(parts);
}

DOJO_WIDE float sumOf(const float* x, std::size_t n) {
  float parts[kParts] = {};
  std::size_t i = 0;
  for (; i + kParts <= n; i += kParts) {
    for (std::size_t k = 0; k < kParts; ++k) parts[k] += x[i + k];
  }
  for (std::size_t k = 0; i + k < n; ++k) parts[k] += x[i + k];
  return total(parts);
}

DOJO_WIDE void expOf(float* y, const float* x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] = exponential(x[i]);
}

DOJO_WIDE void softmaxInPlace(float* x, std::size_t n) {
  if (n == 0) return;
  float most = x[0];
  for (std::size_t i = 1; i < n; ++i) most = x[i] > most ? x[i] : most;
  for (std::size_t i = 0; i < n; ++i) x[i] = exponential(x[i] - most);
  const float scale = 1.0F / sumOf(x, n);
  for (std::size_t i = 0; i < n; ++i) x[i] *= scale;
}

DOJO_WIDE void geluOf(float* y, const float* x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const float v = x[i];
    y[i] = v * logistic(kGeluScale * (v + kGeluCube * v * v * v));
  }
}

DOJO_WIDE void addGeluGradient(float* dx, const float* x, const float* dy, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const float v = x[i];
    const float s = logistic(kGeluScale * (v + kGeluCube * v * v * v));
    const float slope = kGeluScale * (1.0F + 3.0F * kGeluCube * v * v);
    dx[i] += dy[i] * (s + v * s * (1.0F - s) * slope);
  }
}

DOJO_WIDE float normalise(float* y, const float* x, std::size_t n, float eps) {
  const float mean = sumOf(x, n) / static_cast<float>(n);
  for (std::size_t i = 0; i < n; ++i) y[i] = x[i] - mean;
  const float variance = dot(y, y, n) / static_cast<float>(n);
  const float scale = 1.0F / std::sqrt(variance + eps);
  for (std::size_t i = 0; i < n; ++i) y[i] *= scale;
  return scale;
}

DOJO_WIDE void adamStep(float* value, float* mean, float* square, const float* grad, std::size_t n,
                        const AdamFactors& f) {
  for (std::size_t i = 0; i < n; ++i) {
    const float g = grad[i];
    mean[i] += (g - mean[i]) * (1.0F - f.beta1);
    square[i] += (g * g - square[i]) * (1.0F - f.beta2);
    value[i] -= f.step * mean[i] / (std::sqrt(square[i]) + f.epsilon) + f.decay * value[i];
  }
}

DOJO_WIDE void moveTowards(float* y, const float* x, float rate, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] += (x[i] - y[i]) * rate;
}

}  // namespace dojo::agent
