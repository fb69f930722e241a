// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verified and timed candidates a second: the plain kernels of about ten microseconds, each trial
// compiled, placed, loaded, verified on four input sets and timed. Prints where the time goes.
#include <cmath>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/process.h"
#include "codegen/codegen.h"
#include "ir/interpret.h"
#include "kernels/kernels.h"
#include "link/link.h"
#include "measure/session.h"
#include "measure/statistics.h"
#include "target/target.h"

using namespace dojo;

namespace {

template <class T>
T must(Result<T> result) {
  if (!result.ok()) {
    fmt::print(stderr, "{}\n", result.error().text());
    std::exit(1);
  }
  return std::move(*result);
}

void trials(transport::Device& device, const target::Target& target, const std::string& name,
            const std::map<std::string, std::int64_t>& shape) {
  ir::ParseOptions parse;
  parse.params = shape;
  const ir::Program program = must(kernels::load(name, parse)).program;
  std::vector<std::vector<ir::Tensor>> sets;
  std::vector<std::vector<std::vector<ir::Bounded>>> references;
  for (const ir::InputSet kind :
       {ir::InputSet::uniform, ir::InputSet::wide, ir::InputSet::awkward, ir::InputSet::equal}) {
    sets.push_back(ir::makeInputs(program, kind, 1));
    references.push_back(must(ir::reference(program, sets.back())));
  }
  const auto compare =
      [&](int set,
          const std::vector<std::span<const std::byte>>& outputs) -> Result<measure::Compared> {
    measure::Compared out;
    const auto& reference = references[static_cast<std::size_t>(set)];
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const ir::Tensor tensor{program.buffers[i].dtype, {outputs[i].begin(), outputs[i].end()}};
      for (std::size_t k = 0; k < reference[i].size(); ++k) {
        const ir::Bounded& expected = reference[i][k];
        if (!expected.isCompared()) continue;
        if (ir::excess(expected, tensor, static_cast<std::int64_t>(k)) > 1) {
          return Error{"verify.mismatch", fmt::format("element {}", k)};
        }
        ++out.elements;
      }
    }
    return out;
  };
  auto session =
      must(measure::Session::open(device, target, program, sets, compare, measure::Options{}));
  constexpr int kTrials = 200;
  TimeSplit split;
  std::vector<double> scores;
  double cycles = 0;
  Stopwatch whole;
  for (int trial = 0; trial < kTrials; ++trial) {
    Stopwatch watch;
    const int slot = trial % 2;
    const codegen::Object object = must(codegen::compile(program, target));
    const link::Image image =
        must(link::place(object.bytes, codegen::kEntry, session->slot(slot).base,
                         session->slot(slot).capacity, session->symbols()));
    measure::Kernel kernel{
        .slot = slot, .bytes = image.bytes, .entry = image.entry, .scratchBytes = {}};
    for (const codegen::AbiBuffer& buffer : codegen::abi(program)) {
      if (!program.buffer(buffer.id).isArgument()) kernel.scratchBytes.push_back(buffer.bytes);
    }
    split.compile += watch.seconds();
    const Outcome outcome = session->evaluate(kernel);
    if (!outcome.ok()) {
      fmt::print(stderr, "{}: {}\n", name, outcome.failure().detail);
      std::exit(1);
    }
    split.transfer += outcome.time.transfer;
    split.verify += outcome.time.verify;
    split.run += outcome.time.run;
    scores.push_back(outcome.measurement().score);
    cycles = outcome.measurement().cycles;
  }
  const double each = whole.seconds() / kTrials;
  const auto ms = [](double seconds) { return seconds / kTrials * 1e3; };
  fmt::print(
      "{:<10} {:7.1f} us: {:5.0f} candidates/s; {:.2f} ms each = compile {:.2f} + transfer "
      "{:.2f} + verify {:.2f} + run {:.2f}; spread of the trials {:.2f}%\n",
      name, cycles / device.hello().timerHz * 1e6, 1 / each, each * 1e3, ms(split.compile),
      ms(split.transfer), ms(split.verify), ms(split.run), measure::summarize(scores).spread * 100);
}

}  // namespace

int main(int argc, char**) {
  const target::Target target = must(target::load("host"));
  auto device = must(transport::Device::open(must(transport::make(target.runner))));
  if (argc == 1) keepOff(device->hello().cores);
  trials(*device, target, "add", {{"N", 96}, {"M", 96}});
  trials(*device, target, "softmax", {{"N", 8}, {"M", 128}});
  trials(*device, target, "matmul", {{"M", 20}, {"N", 20}, {"K", 20}});
}
