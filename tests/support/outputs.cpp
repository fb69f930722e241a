// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/outputs.h"

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "ir/numeric.h"

namespace dojo::test {

Expectation::Expectation(const ir::Program& program, const std::vector<ir::Tensor>& inputs)
    : program_(program), inputs_(inputs) {
  auto reference = ir::reference(program, inputs);
  if (!reference.ok()) {
    std::fprintf(stderr, "%s\n", reference.error().text().c_str());
    std::abort();
  }
  reference_ = std::move(reference).value();
}

std::string Expectation::differs(const std::vector<ir::Tensor>& actual) const {
  std::size_t argument = 0;
  for (const ir::Buffer& buffer : program_.buffers) {
    if (!buffer.isArgument()) continue;
    const std::size_t k = argument++;
    if (buffer.role == ir::Role::in) {
      if (actual[k].bytes != inputs_[k].bytes) return buffer.name + " was changed";
      continue;
    }
    for (std::int64_t i = 0; i < buffer.storageElements(); ++i) {
      const ir::Bounded& want = reference_[k][static_cast<std::size_t>(i)];
      if (ir::excess(want, actual[k], i) <= 1) continue;
      return fmt::format("{}[{}] is {}, not {} within {}", buffer.name, i,
                         ir::loadAsDouble(actual[k], i), want.value, want.bound);
    }
  }
  return "";
}

}  // namespace dojo::test
