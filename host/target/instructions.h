// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Reading the vendor's own instructions. Internal to this folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "target/reader.h"
#include "target/target.h"

namespace dojo::target {

/// Reads one element of `instructions` and adds it. Problems go to the reader: a fragment that
/// doesn't parse or isn't valid, a name that was taken, an operand that the assembly doesn't name
/// or that is none, a constraint that isn't one.
void readInstruction(Reader& in, std::vector<VendorInstruction>& out);

}  // namespace dojo::target
