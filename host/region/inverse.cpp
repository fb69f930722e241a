// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "region/inverse.h"

#include <cmath>

namespace dojo::region {

std::optional<Inverse> inverseOf(double divisor, ir::DType type) {
  const bool wide = type == ir::DType::f64;
  if (!wide && type != ir::DType::f32) return std::nullopt;
  const double size = std::fabs(divisor);
  const double most = wide ? 0x1p500 : 0x1p60;
  if (!(size <= most && size >= 1 / most)) return std::nullopt;
  const double inverse = 1 / divisor;
  Inverse out;
  out.high = wide ? inverse : static_cast<double>(static_cast<float>(inverse));
  const auto rest = [&] { return std::fma(-out.high, divisor, 1.0) / divisor; };
  // What is left has the sign of the whole, so that infinities don't meet.
  if (rest() != 0 && std::signbit(rest()) != std::signbit(divisor)) {
    out.high = wide ? std::nextafter(out.high, 0.0)
                    : static_cast<double>(std::nextafterf(static_cast<float>(out.high), 0.0F));
  }
  out.low = wide ? rest() : static_cast<double>(static_cast<float>(rest()));
  return out;
}

std::optional<Inverse> inverseOf(const ir::Leaf& leaf, ir::DType type) {
  if (leaf.op != ir::Op::div) return std::nullopt;
  const auto* constant = std::get_if<ir::Constant>(&leaf.operands[1]);
  if (constant == nullptr) return std::nullopt;
  const auto* real = std::get_if<double>(constant);
  const auto* integer = std::get_if<std::int64_t>(constant);
  if (real == nullptr && integer == nullptr) return std::nullopt;
  return inverseOf(real != nullptr ? *real : static_cast<double>(*integer), type);
}

}  // namespace dojo::region
