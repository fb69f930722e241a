// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// How far the math functions of compiled kernels are from the truth, in units in the last place,
/// with MPFR as the truth.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/interpret.h"
#include "ir/program.h"

namespace dojo::proof {

/// Runs a program on some device: arguments in, arguments out (as ir::interpret does).
using Execute = std::function<Result<std::vector<ir::Tensor>>(const ir::Program& program,
                                                              const std::vector<ir::Tensor>&)>;

struct UlpOptions {
  std::int64_t samples = 1 << 18;  ///< Arguments a function and dtype.
  bool exhaustive = false;         ///< Every f32 (pow: sampled), instead of `samples` of them.
  std::uint64_t seed = 1;
  int lanesOfF32 = 1;  ///< Vector lanes that the device has for f32.
};

struct UlpRow {
  ir::Op op = ir::Op::exp;
  ir::DType dtype = ir::DType::f32;
  std::int64_t samples = 0;
  double worst = 0;     ///< Units in the last place; infinite where the kind of value is wrong.
  double allowed = 0;   ///< What the language guarantees.
  double x = 0, y = 0;  ///< Arguments of the worst (y: pow only).
  double got = 0;
};

/// What the language allows for a function, in units in the last place.
[[nodiscard]] double allowedUlps(ir::Op op, ir::DType dtype);

/// One row a function and float dtype, reported as each is done. f16 and bf16 are always exhaustive
/// but for pow.
[[nodiscard]] Result<std::vector<UlpRow>> ulpTable(
    const Execute& execute, const UlpOptions& options,
    const std::function<void(const UlpRow&)>& onRow = {});

}  // namespace dojo::proof
