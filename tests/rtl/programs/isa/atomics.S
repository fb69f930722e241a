# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Atomics: at both words of a double word, and reservations.
  .include "isa.inc"
  .text
  .macro BOTH operation, old, operand, new
  .irp offset, 0, 4
  addi a3, a0, \offset
  li a1, \old
  sw a1, 0(a3)
  li a2, \operand
  \operation a4, a2, (a3)
  lw a5, 0(a3)
  EXPECT a4, \old
  EXPECT a5, \new
  .endr
  .endm
test:
  la a0, room
  CASE 1
  BOTH amoadd.w, 0x80000000, 0xfffff800, 0x7ffff800
  CASE 2
  BOTH amoswap.w, 0x12345678, 5, 5
  CASE 3
  BOTH amoxor.w, 0xff00ff00, 0x0ff00ff0, 0xf0f0f0f0
  CASE 4
  BOTH amoand.w, 0xff00ff00, 0x0ff00ff0, 0x0f000f00
  CASE 5
  BOTH amoor.w, 0xff00ff00, 0x0ff00ff0, 0xfff0fff0
  CASE 6
  BOTH amomin.w, 0x80000000, 1, 0x80000000
  CASE 7
  BOTH amomax.w, 0x80000000, 1, 1
  CASE 8
  BOTH amominu.w, 0x80000000, 1, 1
  CASE 9
  BOTH amomaxu.w, 0x80000000, 1, 0x80000000
  CASE 10                  # the neighbour is left alone
  li a1, 77
  sw a1, 4(a0)
  li a2, -1
  amoswap.w a3, a2, (a0)
  lw a3, 4(a0)
  EXPECT a3, 77
  CASE 11                  # a loop of lr and sc
  sw zero, 0(a0)
  li a4, 200
1:lr.w a1, (a0)
  addi a1, a1, 3
  sc.w a2, a1, (a0)
  bnez a2, 1b
  addi a4, a4, -1
  bnez a4, 1b
  lw a1, 0(a0)
  EXPECT a1, 600
  CASE 12                  # an sc with no reservation, and with one of another place
  li a1, 9
  sc.w a2, a1, (a0)
  beqz a2, fail
  addi a3, a0, 64
  lr.w a2, (a3)
  sc.w a2, a1, (a0)
  beqz a2, fail
  lw a1, 0(a0)
  EXPECT a1, 600
  CASE 13                  # to x0
  li a1, 1
  amoadd.w zero, a1, (a0)
  lw a1, 0(a0)
  EXPECT a1, 601
  j pass
  END
  .data
  .balign 128
room: .space 256
