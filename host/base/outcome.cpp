// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/outcome.h"

#include <array>

namespace dojo {

std::string_view name(Stage stage) {
  static constexpr std::array<std::string_view, 7> kNames = {"lower", "compile", "load", "verify",
                                                             "run",   "link",    "queue"};
  return kNames[static_cast<std::size_t>(stage)];
}

}  // namespace dojo
