# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Instructions of the Snitch cluster that assemblers don't know, for the rows.

# scfgwi VALUE, WORD, MOVER (31: all three)
.macro scfgwi value, word, mover
  .insn i 0x2b, 2, x0, \value, (\word) << 5 | (\mover)
.endm
# frep ITERATIONS - 1, INSTRUCTIONS, STAGGER MAXIMUM, x(2 * stagger mask + 1)
.macro frep iterations, instructions, stagger = 0, mask = x1
  .insn i 0x0b, \stagger, \mask, \iterations, (\instructions) - 1
.endm
.macro dmsrc low
  .insn r 0x2b, 0, 0, x0, \low, x0
.endm
.macro dmdst low
  .insn r 0x2b, 0, 1, x0, \low, x0
.endm
# dmcpyi ID, SIZE: one row
.macro dmcpyi id, size
  .insn r 0x2b, 0, 2, \id, \size, x0
.endm
# dmbusy RD: 0 when all is done
.macro dmbusy rd
  .insn r 0x2b, 0, 4, \rd, x0, x2
.endm
.macro streams_on
  csrsi 0x7c0, 1
.endm
.macro streams_off
  csrci 0x7c0, 1
.endm
.macro barrier
  csrr t0, 0x7c2
.endm
# Waits for the FP side: a move to an integer register, and its use.
.macro synchronise register = fa0
  fmv.x.w t0, \register
  mv t0, t0
.endm
# Doubles 0, 1, ... COUNT - 1 (mod 8, plus BIAS) from the address in t1 on.
.macro doubles count, bias = 0
  li t2, 0
  li t3, \count
77:
  andi t4, t2, 7
  addi t4, t4, \bias
  fcvt.d.w ft4, t4
  fsd ft4, 0(t1)
  addi t1, t1, 8
  addi t2, t2, 1
  bne t2, t3, 77b
.endm
