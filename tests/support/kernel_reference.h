// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What each kernel of the suite must compute, in plain C++: independent of the language, of the
/// interpreter and of the error bounds that it carries.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/interpret.h"
#include "ir/parse.h"

namespace dojo::test {

using Shape = std::map<std::string, std::int64_t>;

/// One element, and the absolute error that roundings and re-association may cause.
struct Expected {
  double value = 0;
  double tolerance = 0;
};

/// The expected contents of each argument, empty for those that are only read. `arguments` are the
/// contents before the call, in order, row-major; `unit` is the unit roundoff of the dtype (2^-24
/// for f32). Aborts for a kernel without a reference.
[[nodiscard]] std::vector<std::vector<Expected>> kernelReference(
    const std::string& kernel, const Shape& shape,
    const std::vector<std::vector<double>>& arguments, double unit);

/// Compares what a kernel left in its arguments with the reference. Empty where all elements agree;
/// else one sentence about the worst. `before` and `after` hold the arguments of `parsed.program`.
[[nodiscard]] std::string compareWithReference(const ir::Parsed& parsed,
                                               const std::vector<ir::Tensor>& before,
                                               const std::vector<ir::Tensor>& after);

}  // namespace dojo::test
