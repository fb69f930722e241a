// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A target that is the same on every machine, for tests that don't run code.
#pragma once

#include "target/target.h"

namespace dojo::test {

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
  return target;
}

}  // namespace dojo::test
