// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What this build calls itself.
#pragma once

namespace dojo::cli {

/// Of the whole program; part of every record.
constexpr const char* kVersion = "0.1.0";

}  // namespace dojo::cli
