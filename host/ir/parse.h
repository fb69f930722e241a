// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Text to program.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/program.h"
#include "ir/tree.h"

namespace dojo::ir {

struct ParseOptions {
  /// Values for `param`s, instead of those in the text. Names that the text lacks are errors.
  std::map<std::string, std::int64_t> params;
  /// Declares every buffer of the kernel's main dtype (that of its first floating-point argument,
  /// else of its first argument) with this dtype instead.
  std::optional<DType> dtype;
  /// Named in errors.
  std::string file = "<text>";
};

/// A program, and the parameters that were bound to make it, in order of declaration.
struct Parsed {
  Program program;
  std::vector<std::pair<std::string, std::int64_t>> params;
  DType dtype = DType::f32;  ///< The main dtype after any substitution.
};

/// Parses and instantiates. The result is canonical but not checked (check.h). Errors have the code
/// "parse.*", where = "FILE:LINE:COLUMN", and the source line with a caret as detail. Any input is
/// answered in time linear in its size.
[[nodiscard]] Result<Parsed> parse(std::string_view text, const ParseOptions& options = {});

/// One term of a guard, "{0} + {1} in [0, 8)", inside scopes whose variables have these ranges.
/// Errors as those of parse().
[[nodiscard]] Result<GuardTerm> parseGuardTerm(std::string_view text,
                                               const std::vector<Interval>& ranges);

/// The parameters that a text declares, with their defaults, without instantiating it. Those that
/// follow from others (`param OH = (H - 1)/2 + 1`) and typed constants are left out.
[[nodiscard]] Result<std::vector<std::pair<std::string, std::int64_t>>> declaredParams(
    std::string_view text, const std::string& file);

}  // namespace dojo::ir
