// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <limits>
#include <vector>

#include "support/kernel_call.h"

namespace dojo::test {

namespace {

constexpr Wide kEpsilon = 1e-5L;

/// A value with what it may be off by.
struct Approximate {
  Wide value = 0;
  Wide error = 0;
};

void gelu(Call& call) {
  for (std::size_t i = 0; i < call.size("N") * call.size("M"); ++i) {
    const Wide x = call.in(0, i);
    const Wide half = x / 2;
    const Wide value = half * (1 + std::erf(x / std::sqrt(Wide{2})));
    // The argument of erf is off by two roundings (its slope is at most 2/sqrt(pi)), erf by two
    // units, the sum by another: all of at most two.
    const Wide error = (Wide{3} * std::fabs(x) + 6) * call.unit;
    call.put(value, std::fabs(half) * error + 2 * std::fabs(value) * call.unit);
  }
}

void batchnorm(Call& call) {
  const std::size_t area = call.size("H") * call.size("W");
  std::size_t at = 0;
  for (std::size_t n = 0; n < call.size("N"); ++n) {
    for (std::size_t c = 0; c < call.size("C"); ++c) {
      const Wide factor = call.in(3, c) / std::sqrt(std::fmax(call.in(2, c), Wide{0}) + kEpsilon);
      for (std::size_t i = 0; i < area; ++i, ++at) {
        const Wide scaled = (call.in(0, at) - call.in(1, c)) * factor;
        const Wide value = scaled + call.in(4, c);
        call.put(value, (12 * std::fabs(scaled) + std::fabs(value)) * call.unit);
      }
    }
  }
}

/// A row of one matrix times a column of another.
Sum product(const Call& call, std::size_t a, std::size_t b, std::size_t step, std::size_t terms,
            std::size_t second = 1) {
  Sum sum;
  for (std::size_t k = 0; k < terms; ++k) {
    sum.add(call.in(0, a + k) * call.in(second, b + k * step));
  }
  return sum;
}

void bmm(Call& call) {
  const std::size_t m = call.size("M"), n = call.size("N"), depth = call.size("K");
  for (std::size_t batch = 0; batch < call.size("B"); ++batch) {
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        const Sum sum = product(call, (batch * m + i) * depth, batch * depth * n + j, n, depth);
        call.put(sum.value, sum.tolerance(call.unit));
      }
    }
  }
}

void depthwise(Call& call) {
  const std::size_t channels = call.size("C"), height = call.size("H"), width = call.size("W");
  const std::size_t stride = call.size("stride");
  for (std::size_t image = 0; image < call.size("N") * channels; ++image) {
    for (std::size_t row = 0; row < height; row += stride) {
      for (std::size_t column = 0; column < width; column += stride) {
        Sum sum;
        for (std::size_t y = row == 0 ? 0 : row - 1; y < std::min(row + 2, height); ++y) {
          for (std::size_t x = column == 0 ? 0 : column - 1; x < std::min(column + 2, width); ++x) {
            sum.add(call.in(0, (image * height + y) * width + x) *
                    call.in(1, ((image % channels) * 3 + (y + 1 - row)) * 3 + (x + 1 - column)));
          }
        }
        call.put(sum.value, sum.tolerance(call.unit));
      }
    }
  }
}

void maxpool(Call& call) {
  const std::size_t height = call.size("H"), width = call.size("W");
  for (std::size_t image = 0; image < call.size("N") * call.size("C"); ++image) {
    for (std::size_t row = 0; row < height; row += 2) {
      for (std::size_t column = 0; column < width; column += 2) {
        Wide largest = -std::numeric_limits<Wide>::infinity();
        for (std::size_t y = row; y < std::min(row + 2, height); ++y) {
          for (std::size_t x = column; x < std::min(column + 2, width); ++x) {
            largest = std::fmax(largest, call.in(0, (image * height + y) * width + x));
          }
        }
        call.put(largest, 0);
      }
    }
  }
}

void avgpool(Call& call) {
  const std::size_t area = call.size("H") * call.size("W");
  for (std::size_t image = 0; image < call.size("N") * call.size("C"); ++image) {
    Sum sum;
    for (std::size_t i = 0; i < area; ++i) sum.add(call.in(0, image * area + i));
    const auto count = static_cast<Wide>(area);
    call.put(sum.value / count,
             sum.tolerance(call.unit) / count + 2 * std::fabs(sum.value / count) * call.unit);
  }
}

void reluFfn(Call& call) {
  const std::size_t n = call.size("N"), depth = call.size("K");
  for (std::size_t i = 0; i < call.size("M"); ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      Sum sum = product(call, i * depth, j, n, depth);
      sum.add(call.in(2, j));
      call.put(std::fmax(sum.value, Wide{0}), sum.tolerance(call.unit));
    }
  }
}

void swiglu(Call& call) {
  const std::size_t n = call.size("N"), depth = call.size("K");
  for (std::size_t i = 0; i < call.size("M"); ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const Sum g = product(call, i * depth, j, n, depth);
      const Sum h = product(call, i * depth, j, n, depth, 2);
      const Wide gate = g.value / (1 + std::exp(-g.value));
      const Wide value = gate * h.value;
      // g sigmoid(g) has a slope of at most 1.1.
      const Wide gateError = Wide{1.1L} * g.tolerance(call.unit) + 4 * std::fabs(gate) * call.unit;
      const Wide hError = h.tolerance(call.unit);
      call.put(value, std::fabs(gate) * hError + std::fabs(h.value) * gateError +
                          gateError * hError + 2 * std::fabs(value) * call.unit);
    }
  }
}

void attention(Call& call) {
  const std::size_t n = call.size("N"), depth = call.size("D");
  const auto count = static_cast<Wide>(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<Approximate> score(n);
    Wide largest = -std::numeric_limits<Wide>::infinity();
    Wide worst = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const Sum sum = product(call, i * depth, j * depth, 1, depth);
      score[j] = {sum.value, sum.tolerance(call.unit)};
      largest = std::fmax(largest, sum.value);
      worst = std::fmax(worst, score[j].error);
    }
    Wide total = 0;
    Wide farthest = 0;
    for (const Approximate& s : score) {
      total += std::exp(s.value - largest);
      farthest = std::fmax(farthest, largest - s.value);
    }
    // An error of a score is one of its exponential, relatively; another comes with the maximum.
    const Wide relative =
        std::expm1(2 * (2 * worst + farthest * call.unit)) + (count + 12) * call.unit;
    for (std::size_t d = 0; d < depth; ++d) {
      Sum sum;
      for (std::size_t j = 0; j < n; ++j) {
        sum.add(std::exp(score[j].value - largest) / total * call.in(2, j * depth + d));
      }
      call.put(sum.value, sum.tolerance(call.unit) + sum.magnitude * relative);
    }
  }
}

void qmatmul(Call& call) {
  const std::size_t n = call.size("N"), depth = call.size("K");
  const Wide multiplier = static_cast<Wide>(call.size("multiplier"));
  for (std::size_t i = 0; i < call.size("M"); ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const Wide sum = product(call, i * depth, j, n, depth).value;
      const Wide scaled = std::floor(sum * multiplier / 2147483648.0L + 0.5L);
      call.put(std::fmin(std::fmax(scaled, Wide{-128}), Wide{127}), 0);
    }
  }
}

void embedding(Call& call) {
  const std::size_t depth = call.size("D");
  for (std::size_t i = 0; i < call.size("N"); ++i) {
    const auto row = static_cast<std::size_t>(call.in(0, i));
    for (std::size_t d = 0; d < depth; ++d) call.put(call.in(1, row * depth + d), 0);
  }
}

void spmv(Call& call) {
  for (std::size_t i = 0; i < call.size("N"); ++i) {
    Sum sum;
    const auto end = static_cast<std::size_t>(call.in(0, i + 1));
    for (auto e = static_cast<std::size_t>(call.in(0, i)); e < end; ++e) {
      sum.add(call.in(2, e) * call.in(3, static_cast<std::size_t>(call.in(1, e))));
    }
    call.put(sum.value, sum.tolerance(call.unit));
  }
}

}  // namespace

const std::map<std::string, Reference>& layerReferences() {
  static const std::map<std::string, Reference> all = {
      {"gelu", {gelu, 1}},           {"batchnorm", {batchnorm, 5}}, {"bmm", {bmm, 2}},
      {"depthwise", {depthwise, 2}}, {"maxpool", {maxpool, 1}},     {"avgpool", {avgpool, 1}},
      {"relu_ffn", {reluFfn, 3}},    {"swiglu", {swiglu, 3}},       {"attention", {attention, 3}},
      {"qmatmul", {qmatmul, 2}},     {"embedding", {embedding, 2}}, {"spmv", {spmv, 4}},
  };
  return all;
}

}  // namespace dojo::test
