// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OpenBLAS, and what is made of its calls and plain loops.
#include <cstring>
#include <memory>

#include <cblas.h>
#include <omp.h>

#include "performance/peers/peers.h"

namespace dojo::peers {

namespace {

void gemm(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, const float* b,
          float* c) {
  const auto M = static_cast<blasint>(m), N = static_cast<blasint>(n), K = static_cast<blasint>(k);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, M, N, K, 1, a, K, b, N, 0, c, N);
}

}  // namespace

void useOneThread() {
  omp_set_num_threads(1);
  openblas_set_num_threads(1);
}

void addBlas(const Call& call, std::vector<Peer>& peers) {
  const auto add = [&](std::function<void()> run) {
    peers.push_back({"OpenBLAS", std::move(run)});
  };
  if (call.kernel == "matmul") {
    add([call] {
      gemm(call.size("M"), call.size("N"), call.size("K"), call.in("a"), call.in("b"), call.out());
    });
  } else if (call.kernel == "bmm") {
    add([call] {
      const auto m = call.size("M"), n = call.size("N"), k = call.size("K");
      for (std::int64_t i = 0; i < call.size("B"); ++i) {
        gemm(m, n, k, call.in("a") + i * m * k, call.in("b") + i * k * n, call.out() + i * m * n);
      }
    });
  } else if (call.kernel == "gemv") {
    add([call] {
      const auto n = static_cast<blasint>(call.size("N")), m = static_cast<blasint>(call.size("M"));
      cblas_sgemv(CblasRowMajor, CblasNoTrans, n, m, 1, call.in("a"), m, call.in("x"), 1, 0,
                  call.out(), 1);
    });
  } else if (call.kernel == "axpy") {
    add([call] {
      cblas_saxpy(static_cast<blasint>(call.size("N")), *call.in("a"), call.in("x"), 1, call.out(),
                  1);
    });
  } else if (call.kernel == "dot") {
    add([call] {
      *call.out() =
          cblas_sdot(static_cast<blasint>(call.size("N")), call.in("a"), 1, call.in("b"), 1);
    });
  } else if (call.kernel == "transpose") {
    add([call] {
      const auto n = static_cast<blasint>(call.size("N")), m = static_cast<blasint>(call.size("M"));
      cblas_somatcopy(CblasRowMajor, CblasTrans, n, m, 1, call.in("x"), m, call.out(), n);
    });
  } else if (call.kernel == "relu_ffn") {
    add([call] {
      const auto m = call.size("M"), n = call.size("N");
      gemm(m, n, call.size("K"), call.in("x"), call.in("w"), call.out());
      for (std::int64_t i = 0; i < m; ++i) {
        float* row = call.out() + i * n;
        for (std::int64_t j = 0; j < n; ++j) {
          const float sum = row[j] + call.in("b")[j];
          row[j] = sum > 0 ? sum : 0;
        }
      }
    });
  } else if (call.kernel == "embedding") {
    peers.push_back({"memcpy of rows", [call] {
                       const auto* row = static_cast<const std::int32_t*>(call.inputs.at("row"));
                       const std::int64_t d = call.size("D");
                       for (std::int64_t i = 0; i < call.size("N"); ++i) {
                         std::memcpy(call.out() + i * d, call.in("table") + row[i] * d,
                                     static_cast<std::size_t>(d) * sizeof(float));
                       }
                     }});
  }
}

}  // namespace dojo::peers
