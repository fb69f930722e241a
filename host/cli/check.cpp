// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/check.h"

#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "cli/commands.h"
#include "moves/lowerable.h"

namespace dojo::cli {
namespace {

struct Options {
  KernelArgs kernel;
  bool json = false;
};

int run(const Options& options) {
  auto refuse = [&](const Error& error) { return fail(error, options.json); };
  Result<target::Target> target = target::load(options.kernel.target);
  if (!target.ok()) return refuse(target.error());
  Result<LoadedKernel> kernel = loadKernel(options.kernel, *target);
  if (!kernel.ok()) return refuse(kernel.error());
  if (Status s = ir::check(kernel->start); !s.ok()) return refuse(s.error());
  const Status lowerable = moves::lowerable(kernel->start, *target);
  if (options.json) {
    Json json;
    json["kernel"] = kernel->start.name;
    json["shape"] = kernel->shape;
    json["dtype"] = kernel->dtype;
    json["target"] = target->name;
    json["lowerable"] = lowerable.ok();
    if (!lowerable.ok()) json["why"] = lowerable.error().text();
    std::printf("%s\n", dump(json).c_str());
    return kDone;
  }
  std::printf("%s is valid\n", kernel->describe().c_str());
  if (!lowerable.ok()) {
    std::printf("as it stands, target %s can't run it: %s\n", target->name.c_str(),
                lowerable.error().text().c_str());
  }
  return kDone;
}

}  // namespace

void addCheck(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      addCommand(app, "check", "Checks that a kernel is valid: bounds, initialisation, mappings",
                 "dojo check ./mine.dojo", [options] { return run(*options); });
  addKernelOptions(*command, options->kernel);
  command->add_flag("--json", options->json, "One JSON object");
}

}  // namespace dojo::cli
