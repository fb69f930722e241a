// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/interpret.h"

#include "ir/interpret_machine.h"
#include "ir/interpret_storage.h"
#include "ir/numeric.h"

namespace dojo::ir {
namespace {

/// The arithmetic of the dtypes.
class Rounded final : public Arithmetic {
 public:
  [[nodiscard]] Number constant(const Constant& constant, DType type) const override {
    return numberOf(constant, type);
  }
  [[nodiscard]] Number cast(Number value, DType from, DType to) const override {
    return castNumber(value, from, to);
  }
  [[nodiscard]] Number saturatingCast(Number value, DType from, DType to) const override {
    return ir::saturatingCast(value, from, to);
  }
  [[nodiscard]] std::optional<Number> evaluate(Op op, DType type, Number a, Number b,
                                               Number c) const override {
    return ir::evaluate(op, type, a, b, c);
  }
};

}  // namespace

Result<std::vector<Tensor>> interpret(const Program& program, const std::vector<Tensor>& arguments,
                                      const InterpretOptions& options) {
  if (Status status = checkArguments(program, arguments); !status) return status.error();
  const Rounded arithmetic;
  Machine machine(program, arithmetic, options);
  const std::vector<BufferId> ids = argumentsOf(program);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Buffer& buffer = program.buffer(ids[i]);
    if (buffer.role == Role::out) continue;
    const auto size = static_cast<std::size_t>(sizeBytes(buffer.dtype));
    for (std::int64_t element = 0; element < buffer.storageElements(); ++element) {
      const std::byte* bytes = &arguments[i].bytes[static_cast<std::size_t>(element) * size];
      machine.set(ids[i], element, load(buffer.dtype, bytes));
    }
  }
  if (Status status = machine.run(); !status) return status.error();
  std::vector<Tensor> out = arguments;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Buffer& buffer = program.buffer(ids[i]);
    if (buffer.role == Role::in) continue;
    const auto size = static_cast<std::size_t>(sizeBytes(buffer.dtype));
    forEachElement(buffer, [&](std::int64_t, std::int64_t offset) {
      store(buffer.dtype, &out[i].bytes[static_cast<std::size_t>(offset) * size],
            machine.get(ids[i], offset));
    });
  }
  return out;
}

}  // namespace dojo::ir
