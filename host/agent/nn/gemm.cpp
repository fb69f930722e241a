// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/nn/gemm.h"

#include <vector>

#include "agent/nn/kernels.h"
#include "base/check.h"

#ifdef DOJO_DNNL
#include <dnnl.h>

/// Of OpenMP's run time, whose header comes with each compiler separately.
extern "C" void omp_set_num_threads(int threads);
#endif

namespace dojo::agent {
namespace {

/// op(A) as rows without gaps.
std::vector<float> rowsOf(Transpose t, const float* a, std::size_t lda, std::size_t rows,
                          std::size_t cols) {
  std::vector<float> out(rows * cols);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < cols; ++j) {
      out[i * cols + j] = t == Transpose::no ? a[i * lda + j] : a[j * lda + i];
    }
  }
  return out;
}

}  // namespace

void gemmPlain(Transpose ta, Transpose tb, std::size_t m, std::size_t n, std::size_t k, float alpha,
               const float* a, std::size_t lda, const float* b, std::size_t ldb, float beta,
               float* c, std::size_t ldc) {
  const std::vector<float> left = rowsOf(ta, a, lda, m, k);
  const std::vector<float> right = rowsOf(tb, b, ldb, k, n);
  std::vector<float> sum(n);
  for (std::size_t i = 0; i < m; ++i) {
    sum.assign(n, 0);
    for (std::size_t l = 0; l < k; ++l) {
      addScaled(sum.data(), right.data() + l * n, left[i * k + l], n);
    }
    float* row = c + i * ldc;
    for (std::size_t j = 0; j < n; ++j) {
      row[j] = alpha * sum[j] + (beta == 0 ? 0 : beta * row[j]);
    }
  }
}

#ifdef DOJO_DNNL

void gemm(Transpose ta, Transpose tb, std::size_t m, std::size_t n, std::size_t k, float alpha,
          const float* a, std::size_t lda, const float* b, std::size_t ldb, float beta, float* c,
          std::size_t ldc) {
  if (m == 0 || n == 0) return;
  // The library takes its threads from OpenMP: none but this one, or sums depend on their number.
  static thread_local const bool alone = [] {
    omp_set_num_threads(1);
    return true;
  }();
  static_cast<void>(alone);
  const auto size = [](std::size_t value) { return static_cast<dnnl_dim_t>(value); };
  const dnnl_status_t status =
      dnnl_sgemm(ta == Transpose::yes ? 'T' : 'N', tb == Transpose::yes ? 'T' : 'N', size(m),
                 size(n), size(k), alpha, a, size(lda), b, size(ldb), beta, c, size(ldc));
  DOJO_CHECK(status == dnnl_success, "dnnl_sgemm refused a product");
}

#else

void gemm(Transpose ta, Transpose tb, std::size_t m, std::size_t n, std::size_t k, float alpha,
          const float* a, std::size_t lda, const float* b, std::size_t ldb, float beta, float* c,
          std::size_t ldc) {
  gemmPlain(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

#endif

}  // namespace dojo::agent
