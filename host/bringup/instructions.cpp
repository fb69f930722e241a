// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Does a vendor's instruction do what its fragment says?
#include <utility>

#include <fmt/format.h>

#include "bringup/steps.h"
#include "ir/canonical.h"
#include "tune/bench.h"

namespace dojo::bringup {
namespace {

/// So many operands at once, so that each input set has many values.
constexpr std::int64_t kTimes = 64;

/// The fragment on arrays of its operands.
ir::Program programOf(const ir::Instruction& fragment) {
  ir::Program out;
  out.name = fragment.name;
  out.buffers = fragment.operands;
  for (ir::Buffer& buffer : out.buffers) buffer.dims.insert(buffer.dims.begin(), ir::Dim{kTimes});
  ir::Node body = fragment.body.front();
  ir::shiftVariables(body, 0, 1);
  ir::forEachAccessMutable(body, [](ir::Access& access) {
    access.indices.insert(access.indices.begin(), ir::Index(ir::Affine::variable(0)));
  });
  ir::Scope scope;
  scope.extent = kTimes;
  scope.body.push_back(std::move(body));
  out.body.emplace_back(std::move(scope));
  ir::canonicalize(out);
  return out;
}

}  // namespace

void checkInstruction(const target::Target& target, const target::VendorInstruction& instruction,
                      transport::Device& device, Step& step) {
  const ir::Program program = programOf(instruction.fragment);
  tune::BenchOptions options;
  options.first = program;
  Result<std::unique_ptr<tune::Bench>> bench = tune::Bench::open(program, target, device, options);
  if (!bench) return fail(step, bench.error().text(), "see the steps before");
  const moves::Move use{"use_instruction", {ir::Path{0, 0}, instruction.name}};
  (*bench)->submit(search::candidate(program, {use}));
  const std::optional<Outcome> outcome = (*bench)->next();
  if (!outcome || !outcome->ok()) {
    const std::string seen =
        outcome ? outcome->failure().code + ": " + outcome->failure().detail : "stopped";
    return fail(step, seen,
                "is the assembly right, with operands in its order? does the fragment say all that "
                "the instruction does, signs and saturation included? has the core got it?");
  }
  const Measurement& measured = outcome->measurement();
  step.seen =
      fmt::format("is right on {} elements; {} times with its loads and stores take {:.6g} {}",
                  measured.comparedElements, kTimes, measured.cycles, unit(target, device.hello()));
}

}  // namespace dojo::bringup
