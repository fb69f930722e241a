// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/storage.h"

#include <algorithm>

namespace dojo::ir {

std::vector<std::int64_t> storageSizes(const Program& program) {
  std::vector<std::int64_t> out(program.buffers.size(), 0);
  const auto storage = [&](std::size_t id) {
    return static_cast<std::size_t>(program.storageOf(static_cast<BufferId>(id)));
  };
  for (std::size_t id = 0; id < out.size(); ++id) {
    std::int64_t& size = out[storage(id)];
    size = std::max(size, program.buffers[id].storageElements());
  }
  for (std::size_t id = 0; id < out.size(); ++id) out[id] = out[storage(id)];
  return out;
}

std::vector<std::vector<BufferId>> buffersByStorage(const Program& program) {
  std::vector<std::vector<BufferId>> out(program.buffers.size());
  for (BufferId id = 0; id < static_cast<BufferId>(out.size()); ++id) {
    out[static_cast<std::size_t>(program.storageOf(id))].push_back(id);
  }
  return out;
}

}  // namespace dojo::ir
