// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Loops of the reference built for several widths of vectors; the results are the same.
#pragma once

#include <type_traits>

#include "ir/reference_estimate.h"
#include "ir/reference_kernels.h"

#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
#define DOJO_WIDTHS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define DOJO_WIDTHS
#endif

namespace dojo::ir {

template <class R>
[[gnu::always_inline]] inline Estimate<R> at(const Column& column, int i) {
  if constexpr (std::is_same_v<R, Wide>) {
    return {{column.high[i], column.low[i]}, column.bound[i]};
  } else {
    return {column.high[i], column.bound[i]};
  }
}

}  // namespace dojo::ir
