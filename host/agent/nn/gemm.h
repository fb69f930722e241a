// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Products of matrices: the one thing that is left to oneDNN, where it was found. Without it our
/// own loops compute the same, slower.
#pragma once

#include <cstddef>

namespace dojo::agent {

enum class Transpose : bool { no, yes };

/// C = op(A) op(B) * alpha + C * beta, op(A) of m x k, op(B) of k x n, rows `lda`, `ldb`, `ldc`
/// apart. Runs on the calling thread alone: equal calls give equal bits.
void gemm(Transpose ta, Transpose tb, std::size_t m, std::size_t n, std::size_t k, float alpha,
          const float* a, std::size_t lda, const float* b, std::size_t ldb, float beta, float* c,
          std::size_t ldc);

/// Our own loops, for comparison.
void gemmPlain(Transpose ta, Transpose tb, std::size_t m, std::size_t n, std::size_t k, float alpha,
               const float* a, std::size_t lda, const float* b, std::size_t ldb, float beta,
               float* c, std::size_t ldc);

}  // namespace dojo::agent
