// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The subcommand `check` of `dojo target`.
#pragma once

#include <CLI/CLI.hpp>

namespace dojo::cli {

void addTargetCheck(CLI::App& target);

}  // namespace dojo::cli
