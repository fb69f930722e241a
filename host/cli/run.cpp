// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/workplace.h"
#include "ir/print.h"
#include "moves/lowerable.h"

namespace dojo::cli {
namespace {

struct Options {
  KernelArgs kernel;
  MeasureArgs measure;
  bool json = false;
};

int run(const Options& options) {
  auto refuse = [&](const Error& error) { return fail(error, options.json); };
  Result<target::Target> target = loadTarget(options.kernel.target, options.measure.threads);
  if (!target.ok()) return refuse(target.error());
  Result<LoadedKernel> kernel = loadKernel(options.kernel, *target);
  if (!kernel.ok()) return refuse(kernel.error());
  if (Status s = moves::lowerable(kernel->start, *target); !s.ok()) {
    Error error = s.error();
    error.where = kernel->start.name + (error.where.empty() ? "" : ", " + error.where);
    return refuse(error);
  }
  Workplace workplace(*target, options.measure, kernel->program);
  workplace.expect(kernel->start);
  if (Status s = workplace.open(); !s.ok()) return refuse(s.error());
  workplace.submit(search::candidate(kernel->start, kernel->trace));
  std::optional<Outcome> outcome = workplace.next();
  if (!outcome) return refuse({"run.stopped", "stopped", "", ""});
  const double hz = tune::tickRate(*target, workplace.device());
  Json json;
  json["kernel"] = kernel->start.name;
  json["shape"] = kernel->shape;
  json["dtype"] = kernel->dtype;
  json["target"] = target->name;
  if (outcome->ok()) {
    describeTo(json, outcome->measurement(), kernel->program, hz);
    describePackingTo(json, kernel->program, kernel->start);
  } else {
    const Failure& failure = outcome->failure();
    json["error"] = {
        {"stage", name(failure.stage)}, {"code", failure.code}, {"message", failure.detail}};
  }
  const TimeSplit& time = outcome->time;
  json["time"] = {{"compile", time.compile},
                  {"transfer", time.transfer},
                  {"verify", time.verify},
                  {"run", time.run}};
  if (options.json) {
    std::printf("%s\n", dump(json).c_str());
    return outcome->ok() ? kDone : kFailed;
  }
  if (!outcome->ok()) {
    const Failure& failure = outcome->failure();
    return fail({failure.code, failure.detail, kernel->start.name, ""});
  }
  std::printf("%s on %s: verified\n%s\n%s", kernel->describe().c_str(), target->name.c_str(),
              describe(outcome->measurement(), kernel->program, hz).c_str(),
              describePacking(kernel->program, kernel->start).c_str());
  return kDone;
}

}  // namespace

void addRun(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      addCommand(app, "run", "Verifies and measures a kernel once",
                 "dojo run softmax --trace softmax.trace", [options] { return run(*options); });
  addKernelOptions(*command, options->kernel);
  addMeasureOptions(*command, options->measure);
  command->add_flag("--json", options->json, "One JSON object");
}

}  // namespace dojo::cli
