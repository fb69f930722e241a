// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Rows to values and back. Internal to host/log.
#pragma once

#include <string_view>

#include "base/result.h"
#include "log/database.h"
#include "log/log.h"

namespace dojo::log {

/// The columns that bindTrial() fills (all but `row`), their `?`s, and the columns that readTrial()
/// and readRun() read, in order.
extern const std::string_view kTrialFields;
extern const std::string_view kTrialMarks;
extern const std::string_view kTrialColumns;
extern const std::string_view kRunColumns;

void bindTrial(Statement& insert, const Trial& trial);
[[nodiscard]] Result<Trial> readTrial(Statement& select);
[[nodiscard]] Result<Run> readRun(Statement& select);

}  // namespace dojo::log
