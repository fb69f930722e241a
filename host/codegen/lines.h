// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Which line of a program's text an instruction of its code comes from: for profiles.
#pragma once

#include <map>

#include <llvm/IR/DIBuilder.h>

#include "base/result.h"
#include "codegen/codegen.h"
#include "codegen/llvm.h"
#include "ir/program.h"
#include "ir/tree.h"

namespace dojo::codegen {

/// Marks what is emitted with lines of print(program).
class LineMarks {
 public:
  LineMarks(llvm::Module& module, const ir::Program& program);

  /// A function that will have marks.
  void enter(llvm::Function& function);
  /// The mark of a node's code in such a function; of one that isn't in the program, that of no
  /// line.
  [[nodiscard]] llvm::DebugLoc at(const ir::Node& node, const llvm::Function& function) const;
  [[nodiscard]] static llvm::DebugLoc around(const llvm::Function& function);
  /// To be called when everything has been emitted.
  void finish() { builder_.finalize(); }

 private:
  void number(const ir::Program& program, const std::vector<ir::Node>& body, ir::Path& path);

  llvm::DIBuilder builder_;
  llvm::DIFile* file_ = nullptr;
  std::map<const ir::Node*, unsigned> lines_;
};

/// Reads the marks back from an object. Error "compile.backend".
[[nodiscard]] Result<std::vector<CodeLine>> readLines(const std::string& object);

}  // namespace dojo::codegen
