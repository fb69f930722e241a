// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The rules of a valid program by enumeration: what check() must agree with.
#pragma once

#include <string>
#include <vector>

#include "check_random.h"

namespace dojo::test {

/// The code of the first broken rule (bounds, then mapping, then reads and outs), or "".
std::string bruteForceCheck(const ir::Program& program,
                            const std::vector<std::vector<std::int64_t>>& contents);

}  // namespace dojo::test
