// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Eigen, compiled for this machine, as its manual writes such expressions.
#include <cmath>
#include <memory>
#include <vector>

#include <Eigen/Dense>
#include <Eigen/Sparse>

#include "performance/peers/peers.h"

namespace dojo::peers {

namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Array = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Row = Eigen::Array<float, 1, Eigen::Dynamic>;

Eigen::Map<Matrix> matrix(float* data, std::int64_t n, std::int64_t m) { return {data, n, m}; }
Eigen::Map<Array> array(float* data, std::int64_t n, std::int64_t m) { return {data, n, m}; }
Eigen::Map<Eigen::VectorXf> vectorOf(float* data, std::int64_t n) { return {data, n}; }
Eigen::Map<Row> row(float* data, std::int64_t n) { return {data, n}; }

using Add = std::function<void(std::function<void()>)>;

void addProducts(const Call& call, const Add& add) {
  if (call.kernel == "matmul") {
    add([call] {
      matrix(call.out(), call.size("M"), call.size("N")).noalias() =
          matrix(call.in("a"), call.size("M"), call.size("K")) *
          matrix(call.in("b"), call.size("K"), call.size("N"));
    });
  } else if (call.kernel == "bmm") {
    add([call] {
      const auto m = call.size("M"), n = call.size("N"), k = call.size("K");
      for (std::int64_t i = 0; i < call.size("B"); ++i) {
        matrix(call.out() + i * m * n, m, n).noalias() =
            matrix(call.in("a") + i * m * k, m, k) * matrix(call.in("b") + i * k * n, k, n);
      }
    });
  } else if (call.kernel == "gemv") {
    add([call] {
      vectorOf(call.out(), call.size("N")).noalias() =
          matrix(call.in("a"), call.size("N"), call.size("M")) *
          vectorOf(call.in("x"), call.size("M"));
    });
  } else if (call.kernel == "relu_ffn") {
    add([call] {
      auto y = matrix(call.out(), call.size("M"), call.size("N"));
      y.noalias() = matrix(call.in("x"), call.size("M"), call.size("K")) *
                    matrix(call.in("w"), call.size("K"), call.size("N"));
      y = (y.rowwise() + vectorOf(call.in("b"), call.size("N")).transpose()).cwiseMax(0.0F);
    });
  } else if (call.kernel == "swiglu") {
    const auto size = call.size("M") * call.size("N");
    add([call, h = std::make_shared<std::vector<float>>(size)] {
      const auto m = call.size("M"), n = call.size("N"), k = call.size("K");
      auto g = matrix(call.out(), m, n);
      g.noalias() = matrix(call.in("x"), m, k) * matrix(call.in("w"), k, n);
      matrix(h->data(), m, n).noalias() = matrix(call.in("x"), m, k) * matrix(call.in("v"), k, n);
      auto y = array(call.out(), m, n);
      y = y / ((-y).exp() + 1.0F) * array(h->data(), m, n);
    });
  } else if (call.kernel == "attention") {
    const auto size = call.size("N") * call.size("N");
    add([call, p = std::make_shared<std::vector<float>>(size)] {
      const auto n = call.size("N"), d = call.size("D");
      auto scores = matrix(p->data(), n, n);
      scores.noalias() = matrix(call.in("q"), n, d) * matrix(call.in("k"), n, d).transpose();
      for (std::int64_t i = 0; i < n; ++i) {
        auto one = row(p->data() + i * n, n);
        one = (one - one.maxCoeff()).exp();
        one /= one.sum();
      }
      matrix(call.out(), n, d).noalias() = scores * matrix(call.in("v"), n, d);
    });
  } else if (call.kernel == "spmv") {
    using Sparse = Eigen::Map<const Eigen::SparseMatrix<float, Eigen::RowMajor, std::int32_t>>;
    add([call] {
      const Sparse a(call.size("N"), call.size("M"), call.size("E"),
                     static_cast<const std::int32_t*>(call.inputs.at("row")),
                     static_cast<const std::int32_t*>(call.inputs.at("column")), call.in("value"));
      vectorOf(call.out(), call.size("N")).noalias() = a * vectorOf(call.in("x"), call.size("M"));
    });
  }
}

void addRows(const Call& call, const Add& add) {
  if (call.kernel == "softmax") {
    add([call] {
      const auto m = call.size("M");
      for (std::int64_t i = 0; i < call.size("N"); ++i) {
        auto y = row(call.out() + i * m, m);
        const auto x = row(call.in("x") + i * m, m);
        y = (x - x.maxCoeff()).exp();
        y /= y.sum();
      }
    });
  } else if (call.kernel == "layernorm") {
    add([call] {
      const auto m = call.size("M");
      for (std::int64_t i = 0; i < call.size("N"); ++i) {
        const auto x = row(call.in("x") + i * m, m);
        const float mean = x.mean();
        const float scale = 1 / std::sqrt((x - mean).square().mean() + 1e-5F);
        row(call.out() + i * m, m) =
            (x - mean) * scale * row(call.in("gamma"), m) + row(call.in("beta"), m);
      }
    });
  } else if (call.kernel == "rmsnorm") {
    add([call] {
      const auto m = call.size("M");
      for (std::int64_t i = 0; i < call.size("N"); ++i) {
        const auto x = row(call.in("x") + i * m, m);
        const float scale = 1 / std::sqrt(x.square().mean() + 1e-5F);
        row(call.out() + i * m, m) = x * scale * row(call.in("gamma"), m);
      }
    });
  } else if (call.kernel == "reducemean") {
    add([call] {
      vectorOf(call.out(), call.size("N")) =
          matrix(call.in("x"), call.size("N"), call.size("M")).rowwise().mean();
    });
  } else if (call.kernel == "transpose") {
    add([call] {
      matrix(call.out(), call.size("M"), call.size("N")).noalias() =
          matrix(call.in("x"), call.size("N"), call.size("M")).transpose();
    });
  } else if (call.kernel == "avgpool") {
    add([call] {
      const auto size = call.size("H") * call.size("W");
      vectorOf(call.out(), call.size("N") * call.size("C")) =
          matrix(call.in("x"), call.size("N") * call.size("C"), size).rowwise().mean();
    });
  } else if (call.kernel == "batchnorm") {
    add([call] {
      const auto size = call.size("H") * call.size("W");
      for (std::int64_t i = 0; i < call.size("N") * call.size("C"); ++i) {
        const std::int64_t c = i % call.size("C");
        const float scale =
            call.in("gamma")[c] / std::sqrt(std::max(call.in("variance")[c], 0.0F) + 1e-5F);
        row(call.out() + i * size, size) =
            (row(call.in("x") + i * size, size) - call.in("mean")[c]) * scale + call.in("beta")[c];
      }
    });
  }
}

void addElementwise(const Call& call, const Add& add) {
  if (call.kernel == "add" || call.kernel == "mul") {
    add([call] {
      const auto n = call.size("N") * call.size("M");
      const auto a = row(call.in("a"), n), b = row(call.in("b"), n);
      if (call.kernel == "add") {
        row(call.out(), n) = a + b;
      } else {
        row(call.out(), n) = a * b;
      }
    });
  } else if (call.kernel == "relu") {
    add([call] {
      const auto n = call.size("N") * call.size("M");
      row(call.out(), n) = row(call.in("x"), n).max(0.0F);
    });
  } else if (call.kernel == "axpy") {
    add([call] {
      vectorOf(call.out(), call.size("N")) +=
          *call.in("a") * vectorOf(call.in("x"), call.size("N"));
    });
  } else if (call.kernel == "dot") {
    add([call] {
      *call.out() =
          vectorOf(call.in("a"), call.size("N")).dot(vectorOf(call.in("b"), call.size("N")));
    });
  } else if (call.kernel == "sum") {
    add([call] { *call.out() = vectorOf(call.in("x"), call.size("N")).sum(); });
  }
}

}  // namespace

void addEigen(const Call& call, std::vector<Peer>& peers) {
  const Add add = [&](std::function<void()> run) { peers.push_back({"Eigen", std::move(run)}); };
  addProducts(call, add);
  addRows(call, add);
  addElementwise(call, add);
}

}  // namespace dojo::peers
