// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What one hart can do at most, measured by a kernel that does nothing else.
#pragma once

#include "base/result.h"
#include "ir/program.h"
#include "target/target.h"
#include "transport/device.h"

namespace dojo::tune {

/// Multiply-adds per tick of the device's counter on one hart: independent accumulators of whole
/// vectors in registers. Errors: "peak.target" where the target has no fused multiply-add for the
/// dtype, else as Bench.
[[nodiscard]] Result<double> measurePeak(transport::Device& device, const target::Target& target,
                                         ir::DType dtype);

}  // namespace dojo::tune
