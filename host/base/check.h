// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Bugs in this program: DOJO_CHECK aborts with the place and a message. Never for bad input.
#pragma once

#include <string>

namespace dojo {

/// Prints "FILE:LINE: internal error: MESSAGE (CONDITION)" on stderr and aborts.
[[noreturn]] void checkFailed(const char* file, int line, const char* condition,
                              const std::string& message);

}  // namespace dojo

/// Aborts unless `condition` holds; `message` (a string) is evaluated only then.
#define DOJO_CHECK(condition, message)                                \
  do {                                                                \
    if (!(condition)) [[unlikely]] {                                  \
      ::dojo::checkFailed(__FILE__, __LINE__, #condition, (message)); \
    }                                                                 \
  } while (false)
