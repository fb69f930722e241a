// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The kernel suite, and kernels that users bring. Every *.dojo file of this folder is part of the
/// program at build time: adding a kernel is adding its file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ir/parse.h"

namespace dojo::kernels {

struct Kernel {
  std::string name;         ///< Of the file and of the kernel in it.
  std::string description;  ///< Its first line, a comment.
  std::string_view text;
  /// Parameters with their defaults, in order of declaration.
  std::vector<std::pair<std::string, std::int64_t>> shape;
};

/// The suite, by name.
[[nodiscard]] const std::vector<Kernel>& list();

/// A kernel at a shape; of parameters that aren't given, the kernel's own.
struct Case {
  std::string kernel;
  std::string shape;  ///< "M=768,N=1024"; mostly empty.
};
/// What is measured to compare machines and versions: every kernel, some at further shapes.
[[nodiscard]] std::vector<Case> suite();

/// Instantiates a kernel of the suite, or the file at a path (anything with '/' or ending in
/// ".dojo"). `options.file` is set here. Errors: "kernel.unknown", those of readFile, "parse.*".
[[nodiscard]] Result<ir::Parsed> load(std::string_view nameOrPath, ir::ParseOptions options = {});

/// The text that load() parses, and the file name for errors in it.
struct Source {
  std::string text;
  std::string file;
};
[[nodiscard]] Result<Source> source(std::string_view nameOrPath);

}  // namespace dojo::kernels
