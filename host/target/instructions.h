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

/// Reads one element of `instructions` and adds it to the target, whose machine and vectors have
/// been read, unless that lacks a feature that it needs. Problems go to the reader: a fragment that
/// doesn't parse or isn't valid, a name that was taken, an operand that the assembly doesn't name
/// or that is none, a constraint that isn't one or whose registers don't hold the operand.
void readInstruction(Reader& in, Target& target);

}  // namespace dojo::target
