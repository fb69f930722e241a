// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "search/composites/all.h"
#include "search/composites/storage.h"

namespace dojo::search::composite {
namespace {

using ir::Path;

bool joinable(const ir::Node& a, const ir::Node& b) {
  return a.isScope() && b.isScope() && a.scope().extent == b.scope().extent;
}

class Fuse final : public Composite {
 public:
  const CompositeInfo& info() const override {
    static const CompositeInfo info{
        "fuse",
        "P",
        {{"levels", {1, 2, 3}}},
        "Joins the nest P with the next one, so many loops deep at most, and keeps near what only "
        "the two of them pass on to each other.",
        3};
    return info;
  }

  std::vector<moves::Arg> places(const moves::State& state) const override {
    std::vector<moves::Arg> out;
    for (const ir::Visit& visit : state.nodes()) {
      const std::vector<ir::Node>* around = ir::siblings(state.program(), visit.path);
      const auto next = static_cast<std::size_t>(visit.path.back()) + 1;
      if (next < around->size() && joinable(*visit.node, (*around)[next])) {
        out.emplace_back(visit.path);
      }
    }
    return out;
  }

  bool expand(Script& script, const moves::Arg& place,
              const std::vector<std::int64_t>& knobs) const override {
    Path at = std::get<Path>(place);
    const Path joined = at;
    for (std::int64_t level = 0; level < knobs[0]; ++level) {
      const ir::Scope* first = scopeAt(script.program(), at);
      if (first == nullptr) return script.refuse("no loop is here");
      const auto seam = static_cast<int>(first->body.size());
      if (!script.apply("join_scopes", {at})) {
        if (level == 0) return false;
        break;
      }
      // Go on where the two bodies meet.
      const ir::Scope* both = scopeAt(script.program(), at);
      const bool more = seam > 0 && seam < static_cast<int>(both->body.size()) &&
                        joinable(both->body[static_cast<std::size_t>(seam) - 1],
                                 both->body[static_cast<std::size_t>(seam)]);
      if (!more) break;
      at = child(at, seam - 1);
    }
    for (const std::string& name : localTo(script.program(), joined)) shrink(script, name);
    return true;
  }

 private:
  /// Tmps that nothing outside of `path` touches.
  static std::vector<std::string> localTo(const ir::Program& program, const Path& path) {
    std::vector<bool> outside(program.buffers.size(), false), inside(program.buffers.size(), false);
    ir::walk(program, [&](const ir::Visit& visit) {
      const bool in = visit.path.size() >= path.size() &&
                      std::equal(path.begin(), path.end(), visit.path.begin());
      ir::forEachAccess(*visit.node, [&](const ir::Access& access, ir::Touch) {
        (in ? inside : outside)[static_cast<std::size_t>(access.buffer)] = true;
      });
      return true;
    });
    std::vector<std::string> out;
    for (std::size_t k = 0; k < program.buffers.size(); ++k) {
      if (!program.buffers[k].isArgument() && inside[k] && !outside[k]) {
        out.push_back(program.buffers[k].name);
      }
    }
    return out;
  }
};

}  // namespace

const Composite* fuse() {
  static const Fuse composite;
  return &composite;
}

}  // namespace dojo::search::composite
