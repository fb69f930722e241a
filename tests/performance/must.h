// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// For programs that print figures: what must work, or the program ends.
#pragma once

#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "base/result.h"

namespace dojo {

template <class T>
T must(Result<T> result) {
  if (!result.ok()) {
    fmt::print(stderr, "{}\n", result.error().text());
    std::exit(1);
  }
  return std::move(*result);
}

}  // namespace dojo
