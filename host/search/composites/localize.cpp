// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/composites/all.h"
#include "search/composites/storage.h"

namespace dojo::search::composite {
namespace {

class Localize final : public Composite {
 public:
  const CompositeInfo& info() const override {
    static const CompositeInfo info{
        "localize",
        "B",
        {},
        "Takes the storage of every dim of the tmp B that can do without, and brings B as near as "
        "it fits: to registers, else to the stack."};
    return info;
  }

  std::vector<moves::Arg> places(const moves::State& state) const override {
    std::vector<moves::Arg> out;
    for (const ir::Buffer& buffer : state.program().buffers) {
      if (!buffer.isArgument() && buffer.location != "register") out.emplace_back(buffer.name);
    }
    return out;
  }

  bool expand(Script& script, const moves::Arg& place,
              const std::vector<std::int64_t>&) const override {
    const auto& name = std::get<std::string>(place);
    if (!script.program().find(name)) return script.refuse("there is no buffer '" + name + "'");
    shrink(script, name);
    return true;
  }
};

}  // namespace

const Composite* localize() {
  static const Localize composite;
  return &composite;
}

}  // namespace dojo::search::composite
