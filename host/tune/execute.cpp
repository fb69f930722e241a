// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/execute.h"

#include "codegen/codegen.h"
#include "link/link.h"
#include "measure/session.h"

namespace dojo::tune {

Result<std::vector<ir::Tensor>> execute(transport::Device& device, const target::Target& target,
                                        const ir::Program& program,
                                        const std::vector<ir::Tensor>& arguments) {
  std::vector<ir::Tensor> out = arguments;
  measure::Compare keep =
      [&](int,
          const std::vector<std::span<const std::byte>>& outputs) -> Result<measure::Compared> {
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      if (!outputs[k].empty()) out[k].bytes.assign(outputs[k].begin(), outputs[k].end());
    }
    return measure::Compared{};
  };
  measure::Options options;
  options.harts = target.harts;
  options.samples = 1;
  options.sampleSeconds = 0;
  options.budgetSeconds = 0;
  options.limitSeconds = target.runner.callSeconds;
  Result<std::unique_ptr<measure::Session>> session =
      measure::Session::open(device, target, program, {arguments}, keep, options);
  if (!session.ok()) return session.error();
  Result<codegen::Object> object = codegen::compile(program, target);
  if (!object.ok()) return object.error();
  const measure::CodeSlot slot = (*session)->slot(0);
  Result<link::Image> image =
      link::place(object->bytes, codegen::kEntry, slot.base, slot.capacity, (*session)->symbols());
  if (!image.ok()) return image.error();
  measure::Kernel kernel;
  kernel.bytes = image->bytes;
  kernel.entry = image->entry;
  for (const codegen::AbiBuffer& buffer : codegen::abi(program)) {
    if (!program.buffer(buffer.id).isArgument()) kernel.scratchBytes.push_back(buffer.bytes);
  }
  const Outcome outcome = (*session)->evaluate(kernel);
  if (!outcome.ok()) return Error{outcome.failure().code, outcome.failure().detail, "", ""};
  return out;
}

}  // namespace dojo::tune
