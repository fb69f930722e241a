// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libxsmm: kernels generated for one small product, called over blocks. Column-major: a product of
// row-major matrices is that of the second by the first.
#include <libxsmm.h>

#include "performance/peers/peers.h"

namespace dojo::peers {

namespace {

/// c (m x n) += a (m x k) b (k x n) with leading dims as of whole row-major matrices; `beta` 0
/// sets.
libxsmm_smmfunction kernelFor(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t lda,
                              std::int64_t ldb, std::int64_t ldc, float beta) {
  const auto ldA = static_cast<libxsmm_blasint>(ldb), ldB = static_cast<libxsmm_blasint>(lda),
             ldC = static_cast<libxsmm_blasint>(ldc);
  const float one = 1;
  return libxsmm_smmdispatch(static_cast<libxsmm_blasint>(n), static_cast<libxsmm_blasint>(m),
                             static_cast<libxsmm_blasint>(k), &ldA, &ldB, &ldC, &one, &beta,
                             nullptr, nullptr);
}

}  // namespace

void addXsmm(const Call& call, std::vector<Peer>& peers) {
  libxsmm_init();
  const auto add = [&](std::function<void()> run) { peers.push_back({"libxsmm", std::move(run)}); };
  if (call.kernel == "bmm") {
    const auto m = call.size("M"), n = call.size("N"), k = call.size("K");
    const libxsmm_smmfunction kernel = kernelFor(m, n, k, k, n, n, 0);
    if (kernel == nullptr) return;
    add([=] {
      for (std::int64_t i = 0; i < call.size("B"); ++i) {
        kernel(call.in("b") + i * k * n, call.in("a") + i * m * k, call.out() + i * m * n);
      }
    });
  } else if (call.kernel == "matmul") {
    constexpr std::int64_t kBlock = 64;
    const auto m = call.size("M"), n = call.size("N"), k = call.size("K");
    if (m % kBlock != 0 || n % kBlock != 0 || k % kBlock != 0) return;
    const libxsmm_smmfunction first = kernelFor(kBlock, kBlock, kBlock, k, n, n, 0);
    const libxsmm_smmfunction more = kernelFor(kBlock, kBlock, kBlock, k, n, n, 1);
    if (first == nullptr || more == nullptr) return;
    add([=] {
      for (std::int64_t j = 0; j < n; j += kBlock) {
        for (std::int64_t p = 0; p < k; p += kBlock) {
          for (std::int64_t i = 0; i < m; i += kBlock) {
            (p == 0 ? first : more)(call.in("b") + p * n + j, call.in("a") + i * k + p,
                                    call.out() + i * n + j);
          }
        }
      }
    });
  }
}

}  // namespace dojo::peers
