// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Naming the log and its rows on a command line.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "log/log.h"

namespace dojo::cli {

void addLogOption(CLI::App& command, std::string& file);

/// The row that `text` names: its number in this file, or the beginning of its uuid. Errors:
/// "cli.usage" where it's neither, "log.row" where there is none or several.
[[nodiscard]] Result<log::Record> findRow(const log::Log& log, const std::string& text);

}  // namespace dojo::cli
