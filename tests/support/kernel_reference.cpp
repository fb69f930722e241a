// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/kernel_reference.h"

#include <functional>
#include <limits>

#include <fmt/format.h>

#include "base/check.h"
#include "support/kernel_call.h"

namespace dojo::test {

namespace {

void add(Call& call) {
  for (std::size_t i = 0; i < call.size("N") * call.size("M"); ++i) {
    const Wide value = call.in(0, i) + call.in(1, i);
    call.put(value, std::fabs(value) * call.unit);
  }
}

void mul(Call& call) {
  for (std::size_t i = 0; i < call.size("N") * call.size("M"); ++i) {
    const Wide value = call.in(0, i) * call.in(1, i);
    call.put(value, std::fabs(value) * call.unit);
  }
}

void relu(Call& call) {
  for (std::size_t i = 0; i < call.size("N") * call.size("M"); ++i) {
    call.put(call.in(0, i) > 0 ? call.in(0, i) : 0, 0);
  }
}

void axpy(Call& call) {
  for (std::size_t i = 0; i < call.size("N"); ++i) {
    Sum sum;
    sum.add(call.in(2, i));
    sum.add(call.in(0, 0) * call.in(1, i));
    call.put(sum.value, sum.tolerance(call.unit));
  }
}

void dot(Call& call) {
  Sum sum;
  for (std::size_t i = 0; i < call.size("N"); ++i) sum.add(call.in(0, i) * call.in(1, i));
  call.put(sum.value, sum.tolerance(call.unit));
}

void sum(Call& call) {
  Sum sum;
  for (std::size_t i = 0; i < call.size("N"); ++i) sum.add(call.in(0, i));
  call.put(sum.value, sum.tolerance(call.unit));
}

Sum rowSum(const Call& call, std::size_t row, const std::function<Wide(Wide)>& term) {
  Sum sum;
  const std::size_t m = call.size("M");
  for (std::size_t j = 0; j < m; ++j) sum.add(term(call.in(0, row * m + j)));
  return sum;
}

void reducemean(Call& call) {
  const auto m = static_cast<Wide>(call.size("M"));
  for (std::size_t i = 0; i < call.size("N"); ++i) {
    const Sum sum = rowSum(call, i, [](Wide x) { return x; });
    call.put(sum.value / m, sum.tolerance(call.unit) / m + std::fabs(sum.value / m) * call.unit);
  }
}

void softmax(Call& call) {
  const std::size_t m = call.size("M");
  for (std::size_t i = 0; i < call.size("N"); ++i) {
    Wide largest = -std::numeric_limits<Wide>::infinity();
    for (std::size_t j = 0; j < m; ++j) largest = std::fmax(largest, call.in(0, i * m + j));
    Wide smallest = 0;
    Wide total = 0;
    for (std::size_t j = 0; j < m; ++j) {
      smallest = std::fmin(smallest, call.in(0, i * m + j) - largest);
      total += std::exp(call.in(0, i * m + j) - largest);
    }
    for (std::size_t j = 0; j < m; ++j) {
      const Wide value = std::exp(call.in(0, i * m + j) - largest) / total;
      // Rounding x - m moves an exponential by u |x - m|; exp, sum and quotient add theirs.
      const Wide relative = 2 * std::fabs(smallest) + static_cast<Wide>(m) + 12;
      call.put(value, value * relative * call.unit);
    }
  }
}

constexpr Wide kEpsilon = 1e-5L;

void layernorm(Call& call) {
  const std::size_t m = call.size("M");
  const auto count = static_cast<Wide>(m);
  for (std::size_t i = 0; i < call.size("N"); ++i) {
    const Sum sum = rowSum(call, i, [](Wide x) { return x; });
    const Wide mean = sum.value / count;
    const Sum squares = rowSum(call, i, [mean](Wide x) { return (x - mean) * (x - mean); });
    const Wide variance = squares.value / count;
    const Wide factor = 1 / std::sqrt(variance + kEpsilon);
    // Of each x - mean, and from there of the variance and of the factor.
    const Wide meanError = sum.tolerance(call.unit) / count + std::fabs(mean) * call.unit;
    Wide worst = 0;
    for (std::size_t j = 0; j < m; ++j) {
      worst = std::fmax(worst, meanError + std::fabs(call.in(0, i * m + j) - mean) * call.unit);
    }
    const Wide varianceError = 2 * std::sqrt(variance) * worst + worst * worst +
                               (count + 6) * call.unit * (variance + kEpsilon);
    const Wide factorError = factor * (varianceError / (variance + kEpsilon) + 8 * call.unit);
    for (std::size_t j = 0; j < m; ++j) {
      const Wide centered = call.in(0, i * m + j) - mean;
      const Wide scaled = centered * factor * call.in(1, j);
      const Wide value = scaled + call.in(2, j);
      const Wide scaledError =
          std::fabs(call.in(1, j)) * (factor * worst + std::fabs(centered) * factorError);
      call.put(value, scaledError + (4 * std::fabs(scaled) + std::fabs(value)) * call.unit);
    }
  }
}

void rmsnorm(Call& call) {
  const std::size_t m = call.size("M");
  for (std::size_t i = 0; i < call.size("N"); ++i) {
    const Sum squares = rowSum(call, i, [](Wide x) { return x * x; });
    const Wide factor = 1 / std::sqrt(squares.value / static_cast<Wide>(m) + kEpsilon);
    for (std::size_t j = 0; j < m; ++j) {
      const Wide value = call.in(0, i * m + j) * factor * call.in(1, j);
      call.put(value, std::fabs(value) * (static_cast<Wide>(m) + 12) * call.unit);
    }
  }
}

void transpose(Call& call) {
  const std::size_t n = call.size("N");
  const std::size_t m = call.size("M");
  for (std::size_t j = 0; j < m; ++j) {
    for (std::size_t i = 0; i < n; ++i) call.put(call.in(0, i * m + j), 0);
  }
}

void gemv(Call& call) {
  const std::size_t m = call.size("M");
  for (std::size_t i = 0; i < call.size("N"); ++i) {
    Sum sum;
    for (std::size_t j = 0; j < m; ++j) sum.add(call.in(0, i * m + j) * call.in(1, j));
    call.put(sum.value, sum.tolerance(call.unit));
  }
}

void matmul(Call& call) {
  const std::size_t n = call.size("N");
  const std::size_t depth = call.size("K");
  for (std::size_t i = 0; i < call.size("M"); ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      Sum sum;
      for (std::size_t k = 0; k < depth; ++k) {
        sum.add(call.in(0, i * depth + k) * call.in(1, k * n + j));
      }
      call.put(sum.value, sum.tolerance(call.unit));
    }
  }
}

void matmulTransposed(Call& call) {
  const std::size_t depth = call.size("K");
  for (std::size_t i = 0; i < call.size("M"); ++i) {
    for (std::size_t j = 0; j < call.size("N"); ++j) {
      Sum sum;
      for (std::size_t k = 0; k < depth; ++k) {
        sum.add(call.in(0, i * depth + k) * call.in(1, j * depth + k));
      }
      call.put(sum.value, sum.tolerance(call.unit));
    }
  }
}

void conv2d(Call& call) {
  const std::size_t channels = call.size("C");
  const std::size_t height = call.size("H");
  const std::size_t width = call.size("W");
  const std::size_t filters = call.size("K");
  const std::size_t stride = call.size("stride");
  // The window's centre walks over the image; what it covers outside of it counts as zero.
  for (std::size_t n = 0; n < call.size("N"); ++n) {
    for (std::size_t k = 0; k < filters; ++k) {
      for (std::size_t row = 0; row < height; row += stride) {
        for (std::size_t column = 0; column < width; column += stride) {
          Sum sum;
          for (std::size_t c = 0; c < channels; ++c) {
            for (std::size_t r = 0; r < 3; ++r) {
              for (std::size_t s = 0; s < 3; ++s) {
                const std::size_t y = row + r;  // one more than the image's row
                const std::size_t x = column + s;
                if (y < 1 || y > height || x < 1 || x > width) continue;
                sum.add(call.in(0, ((n * channels + c) * height + y - 1) * width + x - 1) *
                        call.in(1, ((k * channels + c) * 3 + r) * 3 + s));
              }
            }
          }
          call.put(sum.value, sum.tolerance(call.unit));
        }
      }
    }
  }
}

const std::map<std::string, Reference> kReferences = {
    {"add", {add, 2}},
    {"mul", {mul, 2}},
    {"relu", {relu, 1}},
    {"axpy", {axpy, 2}},
    {"dot", {dot, 2}},
    {"sum", {sum, 1}},
    {"reducemean", {reducemean, 1}},
    {"softmax", {softmax, 1}},
    {"layernorm", {layernorm, 3}},
    {"rmsnorm", {rmsnorm, 2}},
    {"transpose", {transpose, 1}},
    {"gemv", {gemv, 2}},
    {"matmul", {matmul, 2}},
    {"matmul_nt", {matmulTransposed, 2}},
    {"conv2d", {conv2d, 2}},
};

Values valuesOf(const ir::Tensor& tensor) {
  Values values(tensor.bytes.size() / static_cast<std::size_t>(ir::sizeBytes(tensor.dtype)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = ir::loadAsDouble(tensor, static_cast<std::int64_t>(i));
  }
  return values;
}

double unitOf(ir::DType type) {
  switch (type) {
    case ir::DType::f64:
      return 0x1p-53;
    case ir::DType::f32:
      return 0x1p-24;
    case ir::DType::f16:
      return 0x1p-11;
    case ir::DType::bf16:
      return 0x1p-8;
    default:
      return 0;
  }
}

}  // namespace

std::vector<std::vector<Expected>> kernelReference(const std::string& kernel, const Shape& shape,
                                                   const std::vector<Values>& arguments,
                                                   double unit) {
  const auto& layers = layerReferences();
  auto found = kReferences.find(kernel);
  if (found == kReferences.end()) found = layers.find(kernel);
  DOJO_CHECK(found != layers.end(), "kernel " + kernel + " has no reference");
  Call call{shape, arguments, unit, {}};
  found->second.compute(call);
  std::vector<std::vector<Expected>> out(arguments.size());
  out[found->second.result] = std::move(call.out);
  return out;
}

std::string compareWithReference(const ir::Parsed& parsed, const std::vector<ir::Tensor>& before,
                                 const std::vector<ir::Tensor>& after) {
  std::vector<Values> arguments;
  for (const ir::Tensor& tensor : before) arguments.push_back(valuesOf(tensor));
  const Shape shape(parsed.params.begin(), parsed.params.end());
  const auto expected =
      kernelReference(parsed.program.name, shape, arguments, unitOf(parsed.dtype));

  std::string worst;
  double worstRatio = 1;
  for (std::size_t argument = 0; argument < expected.size(); ++argument) {
    if (expected[argument].empty()) {
      if (!(before[argument] == after[argument])) return fmt::format("input {} changed", argument);
      continue;
    }
    const Values got = valuesOf(after[argument]);
    if (got.size() != expected[argument].size()) {
      return fmt::format("argument {} has {} elements, not {}", argument, got.size(),
                         expected[argument].size());
    }
    for (std::size_t i = 0; i < got.size(); ++i) {
      const Expected& want = expected[argument][i];
      const double error = std::fabs(got[i] - want.value);
      // Below the smallest normal number an error of one unit in the last place is always allowed.
      const double ratio = error == 0 ? 0 : error / (want.tolerance + 0x1p-149);
      if (ratio <= worstRatio) continue;
      worstRatio = ratio;
      worst = fmt::format("argument {} element {} is {}, expected {} within {}", argument, i,
                          got[i], want.value, want.tolerance);
    }
  }
  return worst;
}

}  // namespace dojo::test
