// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A program whose regions run as assembly, the rest of it leaf by leaf.
#pragma once

#include <vector>

#include "ir/interpret.h"
#include "ir/program.h"
#include "target/target.h"

namespace dojo::test {

/// All arguments after the run. Throws std::runtime_error: a region isn't compiled, or its code
/// goes wrong.
[[nodiscard]] std::vector<ir::Tensor> runRegions(const ir::Program& program,
                                                 const target::Target& target,
                                                 const std::vector<ir::Tensor>& arguments);

}  // namespace dojo::test
