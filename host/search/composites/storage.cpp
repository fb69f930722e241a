// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/composites/storage.h"

#include "moves/lowerable.h"

namespace dojo::search::composite {

void shrink(Script& script, const std::string& name) {
  std::optional<ir::BufferId> id = script.program().find(name);
  if (!id || script.program().buffer(*id).isArgument()) return;
  const int rank = script.program().buffer(*id).rank();
  for (int d = 0; d < rank; ++d) {
    const ir::Buffer& now = script.program().buffer(*script.program().find(name));
    if (now.dims[static_cast<std::size_t>(d)].fold == 0) {
      script.apply("reuse_dim", {name, std::int64_t{d}});
    }
  }
  const ir::Buffer& buffer = script.program().buffer(*script.program().find(name));
  if (buffer.location == "register") return;
  const target::Target& target = script.target();
  // A program that can't be lowered for another reason mustn't hold the buffer back.
  const bool before = moves::lowerable(script.program(), target).ok();
  if (buffer.storageElements() <= 64) {
    Script attempt = script;
    if (attempt.apply("set_location", {name, std::string("register")}) &&
        (!before || moves::lowerable(attempt.program(), target).ok())) {
      script = attempt;
      return;
    }
  }
  if (buffer.location != "stack" && buffer.storageBytes() <= target.stackBytes / 4) {
    Script attempt = script;
    if (attempt.apply("set_location", {name, std::string("stack")}) &&
        (!before || moves::lowerable(attempt.program(), target).ok())) {
      script = attempt;
    }
  }
}

}  // namespace dojo::search::composite
