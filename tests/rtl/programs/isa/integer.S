# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What hangs together in the integer core: results that come late, and who waits for them.
  .include "isa.inc"
  .text
test:
  la a0, data
  CASE 1                   # a load's value, used at once, one and more instructions later
  lw a1, 0(a0)
  addi a2, a1, 1
  EXPECT a2, 0x01020305
  lw a1, 4(a0)
  nop
  addi a2, a1, 1
  EXPECT a2, 0x11121315
  CASE 2                   # many loads into one register: the last one counts
  lw a1, 0(a0)
  lw a1, 4(a0)
  lw a1, 8(a0)
  EXPECT a1, 0x21222324
  CASE 3                   # a result written over a load's
  lw a1, 0(a0)
  li a1, 7
  EXPECT a1, 7
  CASE 4                   # bytes of every place, signed and not
  lb a1, 3(a0)
  lbu a2, 15(a0)
  lb a3, 15(a0)
  lh a4, 14(a0)
  lhu a5, 14(a0)
  EXPECT a1, 1
  EXPECT a2, 0xf1
  EXPECT a3, -15
  EXPECT a4, 0xfffff1f2
  EXPECT a5, 0xf1f2
  CASE 5                   # loads to x0 leave it
  lw zero, 0(a0)
  mul zero, a0, a0
  nop
  nop
  nop
  nop
  EXPECT zero, 0
  CASE 6                   # stores and loads behind them, narrower and wider
  la a3, room
  li a1, 0x89abcdef
  sw a1, 0(a3)
  sb a1, 1(a3)
  lw a2, 0(a3)
  EXPECT a2, 0x89abefef
  sh a1, 2(a3)
  lw a2, 0(a3)
  EXPECT a2, 0xcdefefef
  CASE 7                   # products and quotients pass one another, not their registers
  li a1, 1000000
  li a2, 7
  div a3, a1, a2
  mul a4, a1, a2
  mul a5, a4, a2
  add a6, a4, a5
  EXPECT a6, 56000000
  EXPECT a3, 142857
  rem a3, a1, a2
  mul a3, a3, a2
  EXPECT a3, 7
  CASE 8                   # many of them, one after another
  li a1, 1
  li a2, 3
  .rept 20
  mul a1, a1, a2
  .endr
  EXPECT a1, 0xcfd41b91
  li a1, 0xfffffff0
  .rept 6
  divu a1, a1, a2
  divu a4, a2, a1
  .endr
  EXPECT a1, 5891587
  CASE 9                   # the corners of division
  li a1, 0x80000000
  li a2, -1
  div a3, a1, a2
  rem a4, a1, a2
  EXPECT a3, 0x80000000
  EXPECT a4, 0
  div a3, a1, zero
  rem a4, a1, zero
  EXPECT a3, -1
  EXPECT a4, 0x80000000
  divu a3, a1, zero
  remu a4, a1, zero
  EXPECT a3, -1
  EXPECT a4, 0x80000000
  li a1, -7
  li a2, 2
  div a3, a1, a2
  rem a4, a1, a2
  EXPECT a3, -3
  EXPECT a4, -1
  CASE 10                  # a product that waits while arithmetic has the register file
  li a1, 12345
  mul a2, a1, a1
  .rept 40
  addi a1, a1, 1
  .endr
  EXPECT a2, 152399025
  EXPECT a1, 12385
  CASE 11                  # calls, and a jump through a loaded address
  la a1, 1f
  la a2, room
  sw a1, 0(a2)
  lw a3, 0(a2)
  jr a3
  j fail
1:jal ra, 2f
  j 3f
2:jr ra
  j fail
3:CASE 12                  # a branch right behind the load that decides it
  lw a1, 0(a0)
  beqz a1, fail
  lw a1, 0(a0)
  beq a1, zero, fail
  CASE 13                  # code that is written, run, written and run again
  la a3, 1f
  li a4, 3
  li a5, 0x00150513        # addi a0, a0, 1
  li a6, 0x00250513        # addi a0, a0, 2
  li a0, 0
2:sw a5, 0(a3)
  fence.i
1:addi a0, a0, 100
  xor a5, a5, a6           # the other one
  xor a6, a5, a6
  xor a5, a5, a6
  addi a4, a4, -1
  bnez a4, 2b
  EXPECT a0, 4
  j pass
  END
  .data
  .balign 8
data: .word 0x01020304, 0x11121314, 0x21222324, 0xf1f2f3f4
room: .space 64
