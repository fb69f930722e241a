// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/kernels.h"

#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/table.h"

namespace dojo::cli {
namespace {

std::string shapeOf(const kernels::Kernel& kernel) {
  std::string out;
  for (const auto& [name, value] : kernel.shape) {
    out += (out.empty() ? "" : ",") + name + "=" + std::to_string(value);
  }
  return out;
}

int run(bool json) {
  Table table({"KERNEL", "SHAPE", "WHAT IT COMPUTES"});
  for (const kernels::Kernel& kernel : kernels::list()) {
    if (json) {
      Json line;
      line["kernel"] = kernel.name;
      line["shape"] = shapeOf(kernel);
      line["description"] = kernel.description;
      line["text"] = kernel.text;
      std::printf("%s\n", dump(line).c_str());
    } else {
      table.add({kernel.name, shapeOf(kernel), kernel.description});
    }
  }
  if (!json) std::fputs(table.text().c_str(), stdout);
  return kDone;
}

}  // namespace

void addKernels(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = addCommand(app, "kernels", "Lists the kernels of the suite", "dojo kernels",
                                 [json] { return run(*json); });
  command->add_flag("--json", *json, "One JSON object a line");
}

}  // namespace dojo::cli
