// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/sharing.h"

#include <string>

#include "ir/check.h"
#include "ir/dependence.h"
#include "moves/clause.h"

namespace dojo::moves {

Status proveSharing(const ir::Program& program) {
  if (!program.hasSharing()) return {};
  const ir::Accesses accesses(program);
  Status status = ir::checkSharing(accesses);
  DOJO_NEEDS(status, status);
  return {};
}

Trace withSharing(const ir::Program& before, const target::Target& target, Trace back,
                  const ir::Program& after) {
  if (!before.hasSharing()) return back;
  const Result<ir::Program> undone = replay(after, target, back);
  if (!undone) return back;
  const auto shared = [&](const std::string& name) {
    const auto id = undone->find(name);
    return id && undone->sharing(*id).size() > 1;
  };
  for (std::size_t i = 0; i < before.buffers.size(); ++i) {
    const auto root = static_cast<ir::BufferId>(i);
    const std::vector<ir::BufferId> members = before.sharing(root);
    if (members.size() == 1 || members.front() != root) continue;
    // Those that still are together, or else the first, are joined by the others.
    ir::BufferId kept = root;
    for (const ir::BufferId member : members) {
      if (shared(before.buffer(member).name)) kept = member;
    }
    for (const ir::BufferId member : members) {
      const std::string& name = before.buffer(member).name;
      if (member == kept || shared(name)) continue;
      back.push_back(Move{"share_storage", {before.buffer(kept).name, name}});
    }
  }
  return back;
}

}  // namespace dojo::moves
