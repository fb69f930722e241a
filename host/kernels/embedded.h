// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The *.dojo files of this folder as text; the definition is made by embed.cmake.
#pragma once

#include <string_view>
#include <vector>

namespace dojo::kernels {

struct Embedded {
  std::string_view name;  ///< Without ".dojo".
  std::string_view text;
};
[[nodiscard]] const std::vector<Embedded>& embedded();

}  // namespace dojo::kernels
