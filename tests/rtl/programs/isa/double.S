# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Double precision, and singles in the registers of doubles.
  .include "isa.inc"
  .text
test:
  CASE 1                   # arithmetic
  DOUBLE fa0, 0x40040000, 0
  DOUBLE fa1, 0x3ff00000, 0
  fadd.d fa2, fa0, fa1
  EXPECT_DOUBLE fa2, 0x400c0000, 0
  fsub.d fa2, fa0, fa1
  EXPECT_DOUBLE fa2, 0x3ff80000, 0
  fmul.d fa2, fa0, fa0
  EXPECT_DOUBLE fa2, 0x40190000, 0
  EXPECT_FLAGS 0
  DOUBLE fa0, 0x3ff00000, 1
  DOUBLE fa1, 0xbff00000, 2
  fmadd.d fa2, fa0, fa0, fa1
  EXPECT_DOUBLE fa2, 0x39700000, 0
  EXPECT_FLAGS 0
  fmul.d fa2, fa0, fa0
  EXPECT_DOUBLE fa2, 0x3ff00000, 2
  EXPECT_FLAGS 1
  CASE 2                   # a single is boxed in ones
  SINGLE fa0, 0x3f800000
  EXPECT_DOUBLE fa0, 0xffffffff, 0x3f800000
  la a0, room
  li a1, 0x40000000
  sw a1, 8(a0)
  sw a1, 12(a0)
  flw fa1, 8(a0)
  EXPECT_DOUBLE fa1, 0xffffffff, 0x40000000
  fadd.s fa2, fa0, fa1
  EXPECT_DOUBLE fa2, 0xffffffff, 0x40400000
  fsgnj.s fa2, fa1, fa1
  EXPECT_DOUBLE fa2, 0xffffffff, 0x40000000
  CASE 3                   # what isn't boxed is a NaN to a single's instruction
  fld fa3, 8(a0)
  fadd.s fa2, fa3, fa0
  EXPECT_DOUBLE fa2, 0xffffffff, 0x7fc00000
  EXPECT_FLAGS 0
  fsgnj.s fa2, fa3, fa0
  EXPECT_DOUBLE fa2, 0xffffffff, 0x7fc00000
  fclass.s a1, fa3
  EXPECT a1, 0x200
  feq.s a1, fa3, fa3
  EXPECT a1, 0
  fcvt.w.s a1, fa3
  EXPECT a1, 0x7fffffff
  EXPECT_FLAGS 0x10
  fmv.x.w a1, fa3          # but moves and stores take it as it is
  EXPECT a1, 0x40000000
  fsw fa3, 16(a0)
  lw a1, 16(a0)
  EXPECT a1, 0x40000000
  CASE 4                   # between the formats
  SINGLE fa0, 0x3fc00000
  fcvt.d.s fa1, fa0
  EXPECT_DOUBLE fa1, 0x3ff80000, 0
  DOUBLE fa1, 0x3ff00000, 0x10000001
  fcvt.s.d fa2, fa1
  EXPECT_DOUBLE fa2, 0xffffffff, 0x3f800001
  EXPECT_FLAGS 1
  DOUBLE fa1, 0x7ff00000, 1
  fcvt.s.d fa2, fa1
  EXPECT_DOUBLE fa2, 0xffffffff, 0x7fc00000
  EXPECT_FLAGS 0x10
  DOUBLE fa1, 0x47f00000, 0
  fcvt.s.d fa2, fa1, rtz
  EXPECT_DOUBLE fa2, 0xffffffff, 0x7f7fffff
  EXPECT_FLAGS 5
  DOUBLE fa1, 0x36a00000, 0
  fcvt.s.d fa2, fa1
  EXPECT_DOUBLE fa2, 0xffffffff, 1
  EXPECT_FLAGS 0
  CASE 5                   # from and to integers
  DOUBLE fa1, 0xc1e00000, 0
  fcvt.w.d a1, fa1, rtz
  EXPECT a1, 0x80000000
  EXPECT_FLAGS 0
  DOUBLE fa1, 0xc1e00000, 0x00200000
  fcvt.w.d a1, fa1, rdn
  EXPECT a1, 0x80000000
  EXPECT_FLAGS 0x10
  DOUBLE fa1, 0x41efffff, 0xffe00000
  fcvt.wu.d a1, fa1, rtz
  EXPECT a1, -1
  EXPECT_FLAGS 0
  li a1, -1
  fcvt.d.wu fa1, a1
  EXPECT_DOUBLE fa1, 0x41efffff, 0xffe00000
  fcvt.d.w fa1, a1
  EXPECT_DOUBLE fa1, 0xbff00000, 0
  CASE 6                   # comparisons
  DOUBLE fa0, 0x7ff80000, 0
  DOUBLE fa1, 0x3ff00000, 0
  flt.d a1, fa0, fa1
  EXPECT a1, 0
  EXPECT_FLAGS 0x10
  feq.d a1, fa0, fa0
  EXPECT a1, 0
  EXPECT_FLAGS 0
  fle.d a1, fa1, fa1
  EXPECT a1, 1
  fmin.d fa2, fa0, fa1
  EXPECT_DOUBLE fa2, 0x3ff00000, 0
  fclass.d a1, fa0
  EXPECT a1, 0x200
  CASE 7                   # stores and loads of both sides, behind one another
  DOUBLE fa0, 0x11223344, 0x55667788
  la a0, room
  fsd fa0, 8(a0)
  lw a1, 12(a0)
  EXPECT a1, 0x11223344
  li a1, 0x99aabbcc
  sw a1, 8(a0)
  fld fa1, 8(a0)
  EXPECT_DOUBLE fa1, 0x11223344, 0x99aabbcc
  fsw fa1, 12(a0)
  amoadd.w a1, zero, (a0)
  lw a1, 12(a0)
  EXPECT a1, 0x99aabbcc
  CASE 8                   # a long chain, and its flags at the end
  DOUBLE fa0, 0x3ff00000, 0
  DOUBLE fa1, 0x3fe00000, 0
  .rept 40
  fmul.d fa0, fa0, fa1
  .endr
  EXPECT_DOUBLE fa0, 0x3d700000, 0
  EXPECT_FLAGS 0
  CASE 9                   # no unit for division and root
  la s11, 1f
  fdiv.d fa0, fa0, fa1
  j fail
  .balign 4
1:EXPECT s9, 2
  la s11, 1f
  fsqrt.s fa0, fa0
  j fail
  .balign 4
1:EXPECT s9, 2
  li s11, 0
  j pass
  END
  .data
  .balign 16
room: .space 64
