// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/result.h"

#include "base/text.h"

namespace dojo {

std::string Error::text() const {
  std::string out = where.empty() ? "" : printable(where) + ": ";
  out += printable(message);
  if (!code.empty()) out += " [" + code + "]";
  if (!detail.empty()) out += "\n" + printable(detail, 4096);
  return out;
}

}  // namespace dojo
