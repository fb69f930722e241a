// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A target that is the same on every machine, for tests that don't run code.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/instruction.h"
#include "ir/parse.h"
#include "target/target.h"

namespace dojo::test {

/// A vendor's instruction; what is wrong with it shows where it's used.
inline target::VendorInstruction vendorInstruction(const std::string& fragment,
                                                   std::string assembly,
                                                   std::vector<std::string> constraints) {
  target::VendorInstruction out;
  out.fragment = ir::toInstruction(ir::parse(fragment).value().program).value();
  out.name = out.fragment.name;
  out.assembly = std::move(assembly);
  out.constraints = std::move(constraints);
  return out;
}

/// 512-bit vectors ganged by 4, all host mappings and locations.
inline target::Target someTarget() {
  target::Target target;
  target.name = "some";
  target.harts = 4;
  target.vector.bits = 512;
  target.vector.grouping = 4;
  target.vector.registers = 32;
  target.vector.fma = true;
  target.vector.types = {"f64", "f32", "i64", "i32", "i16", "i8", "u8"};
  target.mappings = {"unroll", "vector", "parallel"};
  target.locations = {"heap", "stack", "register"};
  target.stackBytes = 1 << 18;
  target.unrollLimit = 4096;
  target.instructions = {vendorInstruction("kernel dot4\n"
                                           "inout acc i32 []\nin x i8 [4]\nin y i8 [4]\n"
                                           "4\n| acc[] += x[{0}] * y[{0}]\n",
                                           "dot4 {acc}, {x}, {y}", {"r", "r", "r"}),
                         vendorInstruction("kernel scale2\n"
                                           "out d f32 [2]\nin x f32 [2]\nin s f32 []\n"
                                           "2\n| d[{0}] = x[{0}] * s[]\n",
                                           "scale2 {d}, {x}, {s}", {"v", "v", "f"})};
  return target;
}

}  // namespace dojo::test
