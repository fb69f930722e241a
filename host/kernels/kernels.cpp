// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/kernels.h"

#include <algorithm>

#include "base/text.h"
#include "kernels/embedded.h"

namespace dojo::kernels {

namespace {

/// Kernels are small; a file past this is something else.
constexpr std::size_t kMaxFileBytes = std::size_t{16} << 20;

Kernel describe(const Embedded& file) {
  Kernel kernel;
  kernel.name = file.name;
  kernel.text = file.text;
  const std::string_view firstLine = kernel.text.substr(0, kernel.text.find('\n'));
  DOJO_CHECK(firstLine.substr(0, 2) == "# ", kernel.name + ".dojo must start with '# DESCRIPTION'");
  kernel.description = firstLine.substr(2);
  kernel.shape = ir::declaredParams(kernel.text, kernel.name + ".dojo").value();
  return kernel;
}

bool isPath(std::string_view text) {
  return text.find('/') != std::string_view::npos || text.ends_with(".dojo");
}

}  // namespace

const std::vector<Kernel>& list() {
  static const std::vector<Kernel> kernels = [] {
    std::vector<Kernel> out;
    for (const Embedded& file : embedded()) out.push_back(describe(file));
    std::sort(out.begin(), out.end(),
              [](const Kernel& a, const Kernel& b) { return a.name < b.name; });
    return out;
  }();
  return kernels;
}

std::vector<Case> suite() {
  std::vector<Case> out;
  for (const Kernel& kernel : list()) {
    out.push_back({kernel.name, ""});
    if (kernel.name == "matmul") out.push_back({kernel.name, "M=768,N=1024,K=1024"});
    if (kernel.name == "conv2d") out.push_back({kernel.name, "stride=2"});
  }
  return out;
}

Result<Source> source(std::string_view nameOrPath) {
  if (isPath(nameOrPath)) {
    Result<std::string> text = readFile(std::string(nameOrPath), kMaxFileBytes);
    if (!text) return text.error();
    return Source{*std::move(text), std::string(nameOrPath)};
  }
  std::vector<std::string> names;
  for (const Kernel& kernel : list()) {
    if (kernel.name == nameOrPath) return Source{std::string(kernel.text), kernel.name + ".dojo"};
    names.push_back(kernel.name);
  }
  return Error{"kernel.unknown",
               "there is no kernel '" + std::string(nameOrPath) + "'" +
                   didYouMean(nameOrPath, names) + (nearest(nameOrPath, names) ? " " : "; ") +
                   "`dojo kernels` lists all; a file of your own is given by its path, as in "
                   "./mine.dojo",
               "", ""};
}

Result<ir::Parsed> load(std::string_view nameOrPath, ir::ParseOptions options) {
  const Result<Source> found = source(nameOrPath);
  if (!found) return found.error();
  options.file = found->file;
  return ir::parse(found->text, options);
}

}  // namespace dojo::kernels
