// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scopes whose memory accesses run apart from the program: streams ahead of it and behind it, the
// DMA engine in an order of its own.
#include <algorithm>

#include <fmt/format.h>

#include "ir/check_internal.h"
#include "ir/order.h"
#include "ir/print.h"

namespace dojo::ir {
namespace {

class StreamCheck {
 public:
  StreamCheck(const Accesses& accesses, const Visit& scope)
      : accesses_(accesses), program_(accesses.program()), scope_(scope) {}

  [[nodiscard]] Status run() const {
    const std::vector<const Site*> inside = accesses_.below(scope_.path);
    const auto depth = static_cast<int>(scope_.enclosing.size());
    for (const Site* first : inside) {
      if (first->touch != Touch::write) continue;
      for (const Site* second : inside) {
        if (!matters(*first, *second)) continue;
        const Answer answer = meetsLater(accesses_, *first, *second, depth);
        if (answer != Answer::no) return refuse(*first, *second, answer);
      }
    }
    return {};
  }

 private:
  [[nodiscard]] bool streamed(const Site& site) const {
    const std::vector<BufferId>& streams = scope_.node->scope().mapping.streams;
    return std::find(streams.begin(), streams.end(), site.access.buffer) != streams.end();
  }

  /// Writes that a read waits for in vain, or that come later than another.
  [[nodiscard]] bool matters(const Site& first, const Site& second) const {
    const BufferId a = first.access.buffer, b = second.access.buffer;
    if (program_.storageOf(a) != program_.storageOf(b)) return false;
    if (!streamed(first) && !streamed(second)) return false;
    return second.touch == Touch::read || a != b;
  }

  [[nodiscard]] Error refuse(const Site& first, const Site& second, Answer answer) const {
    const std::string scope = printLine(program_, *scope_.node);
    const std::string& written = program_.buffer(first.access.buffer).name;
    if (answer == Answer::unknown) {
      return errorAt(program_, scope_.path, "check.undecided",
                     fmt::format("whether {} meets what is written to {} in {} was not decided",
                                 lineText(program_, second.path), written, scope));
    }
    return errorAt(
        program_, scope_.path, "check.mapping",
        fmt::format("what is written to {} ({}) in {} is touched again there ({}), which "
                    "streams don't see in time",
                    written, lineText(program_, first.path), scope,
                    lineText(program_, second.path)));
  }

  const Accesses& accesses_;
  const Program& program_;
  const Visit& scope_;
};

}  // namespace

Status checkStreams(const Accesses& accesses, const Visit& scope) {
  return StreamCheck(accesses, scope).run();
}

Status checkTransfer(const Accesses& accesses, const Visit& scope) {
  const Program& program = accesses.program();
  for (const Site* site : accesses.below(scope.path)) {
    if (site->touch != Touch::write) continue;
    const auto depths = static_cast<int>(site->enclosing.size());
    for (auto k = static_cast<int>(scope.enclosing.size()); k < depths; ++k) {
      const Answer answer = meet(accesses, *site, *site, equalThen(k, {Relation::different}));
      if (answer == Answer::no) continue;
      const std::string& name = program.buffer(site->access.buffer).name;
      if (answer == Answer::unknown) {
        return errorAt(
            program, scope.path, "check.undecided",
            fmt::format("whether elements of {} are written twice was not decided", name));
      }
      return errorAt(program, scope.path, "check.mapping",
                     fmt::format("elements of {} are written twice by {}, in no certain order",
                                 name, printLine(program, *scope.node)));
    }
  }
  return {};
}

}  // namespace dojo::ir
