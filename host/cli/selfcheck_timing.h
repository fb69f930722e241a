// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// `dojo selfcheck --timing TARGET`.
#pragma once

#include <string>

namespace dojo::cli {

/// Prints what the rows whose name contains `only` take beside their references; the exit code is
/// kFailed where one isn't within what is allowed.
int checkTimingTable(const std::string& target, const std::string& runner, const std::string& only,
                     bool json);

}  // namespace dojo::cli
