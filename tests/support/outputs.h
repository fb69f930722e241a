// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What a program must leave in its arguments, by the interpreter's reference and error bounds.
#pragma once

#include <string>
#include <vector>

#include "ir/interpret.h"
#include "ir/program.h"

namespace dojo::test {

class Expectation {
 public:
  /// Aborts where the interpreter refuses.
  Expectation(const ir::Program& program, const std::vector<ir::Tensor>& inputs);
  /// Empty where `actual`, the arguments after a call, are as they must be; else where not.
  [[nodiscard]] std::string differs(const std::vector<ir::Tensor>& actual) const;

 private:
  const ir::Program& program_;
  const std::vector<ir::Tensor>& inputs_;
  std::vector<std::vector<ir::Bounded>> reference_;
};

}  // namespace dojo::test
