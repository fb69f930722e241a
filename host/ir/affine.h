// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Affine arithmetic that can't overflow: for expressions that come from text.
#pragma once

#include <optional>

#include "ir/program.h"
#include "ir/tree.h"

namespace dojo::ir {

/// No coefficient, constant or value of an index expression exceeds this in magnitude.
constexpr std::int64_t kMaxAffine = std::int64_t{1} << 60;

/// nullopt where a coefficient or the constant would exceed kMaxAffine.
[[nodiscard]] std::optional<Affine> checkedAdd(const Affine& a, const Affine& b);
[[nodiscard]] std::optional<Affine> checkedSubtract(const Affine& a, const Affine& b);
[[nodiscard]] std::optional<Affine> checkedMultiply(const Affine& a, std::int64_t factor);

/// True where no value of `expr`, and no partial sum of it, exceeds kMaxAffine in magnitude while
/// its variables stay in `ranges`.
[[nodiscard]] bool staysInRange(const Affine& expr, const std::vector<Interval>& ranges);

}  // namespace dojo::ir
