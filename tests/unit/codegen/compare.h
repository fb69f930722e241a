// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A text compiled and run here against the interpreter.
#pragma once

#include <string>
#include <string_view>

#include "ir/program.h"
#include "target/target.h"

namespace dojo::test {

/// The target "host", read once.
[[nodiscard]] const target::Target& host();
/// x86-64-v3 with vectors of 256 bits.
[[nodiscard]] const target::Target& middling();
/// x86-64 alone: no fma, no rounding instruction, no f16 conversion, no masked access; 128 bits.
[[nodiscard]] const target::Target& plain();
/// Instead of a number of ulps: within the error bound that the reference carries.
constexpr double kCarried = -1;
/// Parses (requires).
[[nodiscard]] ir::Program program(std::string_view text);
/// Requires that the text compiles and that every element of every argument is what the
/// interpreter gives: integers exactly; floats within `ulps` of the larger of the two, NaN with
/// NaN. Runs on several input sets. nullptr: the host.
void agrees(std::string_view text, double ulps = 0, const target::Target* target = nullptr);
/// Requires that lowering refuses the text with this code.
void refuses(std::string_view text, std::string_view code, const target::Target* target = nullptr);

}  // namespace dojo::test
