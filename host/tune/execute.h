// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Runs one program once on a device: arguments in, arguments out.
#pragma once

#include <vector>

#include "base/result.h"
#include "ir/interpret.h"
#include "ir/program.h"
#include "target/target.h"
#include "transport/device.h"

namespace dojo::tune {

/// As ir::interpret, by compiled code. Errors: "lower.*", "compile.*", "link.*", "load.*", "run.*".
[[nodiscard]] Result<std::vector<ir::Tensor>> execute(transport::Device& device,
                                                      const target::Target& target,
                                                      const ir::Program& program,
                                                      const std::vector<ir::Tensor>& arguments);

}  // namespace dojo::tune
