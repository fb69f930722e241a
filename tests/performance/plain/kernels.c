/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Kernels as one writes them in C without a thought of the machine, to be compiled at -O3 as what
 * tuned ones are compared with. KERNEL names the one; its sizes are macros too; T is the element
 * type. For cores without division and square root in hardware. */
#include <stdint.h>

#ifndef T
#define T double
#endif

/* Newton's iteration from a first guess in the exponent. */
static double reciprocal(double x) {
  union {
    double f;
    uint64_t u;
  } guess;
  guess.f = x;
  guess.u = 0x7fde623822fc16e6u - guess.u;
  double y = guess.f;
  for (int k = 0; k < 4; ++k) y = y * (2 - x * y);
  return y;
}

static double reciprocal_root(double x) {
  union {
    double f;
    uint64_t u;
  } guess;
  guess.f = x;
  guess.u = 0x5fe6eb50c7b537a9u - (guess.u >> 1);
  double y = guess.f;
  for (int k = 0; k < 4; ++k) y = y * (1.5 - 0.5 * x * y * y);
  return y;
}

/* exp by reduction to [-ln2/2, ln2/2] and a Taylor polynomial. */
static double exponential(double x) {
  if (x < -708) return 0;
  const int k = (int)(x * 1.4426950408889634 + (x < 0 ? -0.5 : 0.5));
  const double r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
  double p = 1.0 / 6227020800.0;
  const double terms[] = {1.0 / 479001600.0,
                          1.0 / 39916800.0,
                          1.0 / 3628800.0,
                          1.0 / 362880.0,
                          1.0 / 40320.0,
                          1.0 / 5040.0,
                          1.0 / 720.0,
                          1.0 / 120.0,
                          1.0 / 24.0,
                          1.0 / 6.0,
                          0.5,
                          1.0,
                          1.0};
  for (int i = 0; i < 13; ++i) p = p * r + terms[i];
  union {
    double f;
    uint64_t u;
  } scale;
  scale.u = (uint64_t)(int64_t)(1023 + k) << 52;
  return p * scale.f;
}

static inline void matmul(void* const* b) {
#if defined(M) && defined(N) && defined(K)
  const T(*x)[K] = b[0];
  const T(*y)[N] = b[1];
  T(*z)[N] = b[2];
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j) {
      T sum = 0;
      for (int k = 0; k < K; ++k) sum += x[i][k] * y[k][j];
      z[i][j] = sum;
    }
  }
#endif
}

static inline void matmul_nt(void* const* b) {
#if defined(M) && defined(N) && defined(K)
  const T(*x)[K] = b[0];
  const T(*y)[K] = b[1];
  T(*z)[N] = b[2];
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j) {
      T sum = 0;
      for (int k = 0; k < K; ++k) sum += x[i][k] * y[j][k];
      z[i][j] = sum;
    }
  }
#endif
}

static inline void qmatmul(void* const* b) {
#if defined(M) && defined(N) && defined(K)
  const int8_t(*x)[K] = b[0];
  const int8_t(*y)[N] = b[1];
  int8_t(*z)[N] = b[2];
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j) {
      int32_t sum = 0;
      for (int k = 0; k < K; ++k) sum += x[i][k] * y[k][j];
      const int64_t scaled = ((int64_t)sum * 1073742 + 1073741824) >> 31;
      z[i][j] = (int8_t)(scaled < -128 ? -128 : scaled > 127 ? 127 : scaled);
    }
  }
#endif
}

#ifdef N
static inline void axpy(void* const* b) {
  const T a = *(const T*)b[0];
  const T* x = b[1];
  T* y = b[2];
  for (int i = 0; i < N; ++i) y[i] += a * x[i];
}

static inline void dot(void* const* b) {
  const T *x = b[0], *y = b[1];
  T sum = 0;
  for (int i = 0; i < N; ++i) sum += x[i] * y[i];
  *(T*)b[2] = sum;
}

static inline void sum(void* const* b) {
  const T* x = b[0];
  T total = 0;
  for (int i = 0; i < N; ++i) total += x[i];
  *(T*)b[1] = total;
}
#endif

static inline void relu(void* const* b) {
#if defined(M) && defined(N)
  const T* x = b[0];
  T* y = b[1];
  for (int i = 0; i < N * M; ++i) y[i] = x[i] > 0 ? x[i] : 0;
#endif
}

static inline void softmax(void* const* b) {
#if defined(M) && defined(N)
  const T(*x)[M] = b[0];
  T(*y)[M] = b[1];
  for (int i = 0; i < N; ++i) {
    T most = x[i][0];
    for (int j = 1; j < M; ++j) most = x[i][j] > most ? x[i][j] : most;
    T sum = 0;
    for (int j = 0; j < M; ++j) {
      y[i][j] = exponential(x[i][j] - most);
      sum += y[i][j];
    }
    const T scale = reciprocal(sum);
    for (int j = 0; j < M; ++j) y[i][j] *= scale;
  }
#endif
}

static inline void layernorm(void* const* b) {
#if defined(M) && defined(N)
  const T(*x)[M] = b[0];
  const T *gamma = b[1], *beta = b[2];
  T(*y)[M] = b[3];
  for (int i = 0; i < N; ++i) {
    T mean = 0, variance = 0;
    for (int j = 0; j < M; ++j) mean += x[i][j];
    mean *= (T)1 / M;
    for (int j = 0; j < M; ++j) variance += (x[i][j] - mean) * (x[i][j] - mean);
    const T scale = reciprocal_root(variance * ((T)1 / M) + (T)1e-5);
    for (int j = 0; j < M; ++j) y[i][j] = (x[i][j] - mean) * scale * gamma[j] + beta[j];
  }
#endif
}

static inline void conv2d(void* const* b) {
#if defined(C) && defined(H) && defined(W) && defined(K)
  const T(*x)[H][W] = b[0];
  const T(*w)[C][3][3] = b[1];
  T(*y)[H][W] = b[2];
  for (int k = 0; k < K; ++k) {
    for (int i = 0; i < H; ++i) {
      for (int j = 0; j < W; ++j) {
        T sum = 0;
        for (int c = 0; c < C; ++c) {
          for (int di = 0; di < 3; ++di) {
            for (int dj = 0; dj < 3; ++dj) {
              const int r = i + di - 1, s = j + dj - 1;
              if (r >= 0 && r < H && s >= 0 && s < W) sum += x[c][r][s] * w[k][c][di][dj];
            }
          }
        }
        y[k][i][j] = sum;
      }
    }
  }
#endif
}

void dojo_kernel(void* const* buffers) { KERNEL(buffers); }
