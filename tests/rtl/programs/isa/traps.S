# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Traps that a program comes back from.
  .include "isa.inc"
  .text
  .macro TRAPS cause, instruction:vararg
  la s11, 9f
  li s9, 0
  \instruction
  j fail
  .balign 4
9:EXPECT s9, \cause
  li s11, 0
  .endm
test:
  la a0, room
  CASE 1
  TRAPS 2, .word 0
  CASE 2
  TRAPS 2, csrr a1, 0x345
  CASE 3
  TRAPS 4, lw a1, 2(a0)
  addi a2, a0, 2
  bne s10, a2, fail
  CASE 4
  TRAPS 6, sw a1, 1(a0)
  CASE 5
  TRAPS 4, fld fa0, 4(a0)
  CASE 6
  TRAPS 3, ebreak
  CASE 7                   # what was under way goes on
  li a2, 91
  li a3, 7
  div a4, a2, a3
  lw a5, 0(a0)
  TRAPS 2, .word 0
  EXPECT a4, 13
  EXPECT a5, 0x600d
  CASE 8                   # the operand of what traps comes late
  la a1, room
  sw a1, 8(a0)
  lw a1, 8(a0)
  TRAPS 4, lh a1, 1(a1)
  addi a2, a0, 1
  bne s10, a2, fail
  bne a1, a0, fail
  CASE 9
  li a1, 0x7000            # no floating point
  csrc mstatus, a1
  TRAPS 2, fadd.d fa0, fa0, fa0
  TRAPS 2, fld fa0, 0(a0)
  TRAPS 2, csrr a1, fcsr
  li a1, 0x2000
  csrs mstatus, a1
  fmv.w.x fa0, zero
  CASE 10                  # a rounding mode that there is none of
  fsrmi 5
  TRAPS 2, fadd.s fa0, fa0, fa0
  fsrmi 0
  fadd.s fa0, fa0, fa0
  CASE 11                  # a jump to the middle of a word: nothing is written
  li t1, 5
  la t2, 9f
  TRAPS 0, jalr t1, 2(t2)
  EXPECT t1, 5
  CASE 12                  # there are no triggers, and asking for one tells so
  li a1, 0x80000000
  csrw tselect, a1
  csrr a2, tselect
  EXPECT a2, 0
  csrr a2, tdata1
  EXPECT a2, 0
  CASE 13                  # what is written to a counter is read by the next instruction
  li a1, -1
  csrw minstret, a1
  csrr a2, minstret
  EXPECT a2, -1
  csrr a2, mcountinhibit
  EXPECT a2, 0
  j pass
  END
  .data
  .balign 16
room: .word 0x600d, 0, 0, 0
