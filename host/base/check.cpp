// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace dojo {

void checkFailed(const char* file, int line, const char* condition, const std::string& message) {
  std::fprintf(stderr, "%s:%d: internal error: %s (%s)\n", file, line, message.c_str(), condition);
  std::abort();
}

}  // namespace dojo
