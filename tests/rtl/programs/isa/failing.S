# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Fails in its case 5.
  .include "isa.inc"
  .text
test:
  CASE 4
  EXPECT zero, 0
  CASE 5
  EXPECT zero, 1
  j pass
  END
