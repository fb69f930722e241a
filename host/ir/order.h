// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Which of two accesses comes first where they meet.
#pragma once

#include "ir/dependence.h"

namespace dojo::ir {

/// Can an execution of `first` come before one of `second`, in one execution of the bodies of the
/// first `depth` scopes around both, on the same storage element? Two accesses of one leaf in the
/// same execution of it don't count.
[[nodiscard]] Answer meetsLater(const Accesses& accesses, const Site& first, const Site& second,
                                int depth);

}  // namespace dojo::ir
