// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The arrays that buffers lie in, all at once: Program's own functions look at one buffer.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.h"

namespace dojo::ir {

/// For each buffer the elements of its storage: as many as the largest of those that share it
/// takes.
[[nodiscard]] std::vector<std::int64_t> storageSizes(const Program& program);

/// The buffers of each storage in declared order; for those that aren't the first of theirs none.
[[nodiscard]] std::vector<std::vector<BufferId>> buffersByStorage(const Program& program);

}  // namespace dojo::ir
