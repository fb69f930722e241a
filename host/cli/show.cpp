// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "cli/commands.h"
#include "codegen/codegen.h"
#include "ir/print.h"

namespace dojo::cli {
namespace {

struct Options {
  KernelArgs kernel;
  std::string as = "tree";
  bool places = false;
};

int run(const Options& options) {
  Result<target::Target> target = target::load(options.kernel.target);
  if (!target.ok()) return fail(target.error());
  Result<LoadedKernel> kernel = loadKernel(options.kernel, *target);
  if (!kernel.ok()) return fail(kernel.error());
  Result<std::string> text = options.as == "llvm"  ? codegen::llvmText(kernel->start, *target)
                             : options.as == "asm" ? codegen::assemblyText(kernel->start, *target)
                             : options.places
                                 ? Result<std::string>(ir::printWithPlaces(kernel->start))
                                 : Result<std::string>(ir::print(kernel->start));
  if (!text.ok()) return fail(text.error());
  std::fputs(text->c_str(), stdout);
  return kDone;
}

}  // namespace

void addShow(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = addCommand(app, "show", "Prints a kernel as loop tree, LLVM IR or assembly",
                                 "dojo show matmul --shape M=16,N=16,K=16 --as asm",
                                 [options] { return run(*options); });
  addKernelOptions(*command, options->kernel);
  command->add_option("--as", options->as, "tree, llvm or asm")
      ->check(CLI::IsMember({"tree", "llvm", "asm"}))
      ->capture_default_str();
  command->add_flag("--places", options->places, "The tree alone, each line with its place");
}

}  // namespace dojo::cli
