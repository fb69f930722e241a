// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/result.h"

namespace dojo {

std::string Error::text() const {
  std::string out = where.empty() ? message : where + ": " + message;
  if (!code.empty()) out += " [" + code + "]";
  if (!detail.empty()) out += "\n" + detail;
  return out;
}

}  // namespace dojo
