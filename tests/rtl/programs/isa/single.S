# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Single precision: values, flags, roundings, comparisons of what has no order.
  .include "isa.inc"
  .text
  .macro TWO operation, a, b, result, flags
  SINGLE fa0, \a
  SINGLE fa1, \b
  \operation fa2, fa0, fa1
  fmv.x.w a0, fa2
  EXPECT a0, \result
  EXPECT_FLAGS \flags
  .endm
  .macro COMPARE operation, a, b, result, flags
  SINGLE fa0, \a
  SINGLE fa1, \b
  \operation a0, fa0, fa1
  EXPECT a0, \result
  EXPECT_FLAGS \flags
  .endm
  .macro CONVERT operation, mode, a, result, flags
  SINGLE fa0, \a
  \operation a0, fa0, \mode
  EXPECT a0, \result
  EXPECT_FLAGS \flags
  .endm
test:
  CASE 1
  TWO fadd.s, 0x40200000, 0x3f800000, 0x40600000, 0
  TWO fadd.s, 0xc49a6333, 0x3f8ccccd, 0xc49a4000, 1
  TWO fsub.s, 0x7f800000, 0x7f800000, 0x7fc00000, 0x10
  TWO fmul.s, 0x7f000000, 0x40800000, 0x7f800000, 5
  TWO fmul.s, 0x00800000, 0x3f000000, 0x00400000, 0
  TWO fmul.s, 0x00800001, 0x3f000000, 0x00400000, 3
  CASE 2
  TWO fmin.s, 0x00000000, 0x80000000, 0x80000000, 0
  TWO fmax.s, 0x80000000, 0x00000000, 0x00000000, 0
  TWO fmin.s, 0x7fc00000, 0x3f800000, 0x3f800000, 0
  TWO fmax.s, 0x7f800001, 0x3f800000, 0x3f800000, 0x10
  TWO fmin.s, 0xffc00000, 0x7fc12345, 0x7fc00000, 0
  CASE 3
  TWO fsgnj.s, 0x3f800000, 0x80000000, 0xbf800000, 0
  TWO fsgnjn.s, 0x7fc12345, 0x00000000, 0xffc12345, 0
  TWO fsgnjx.s, 0xff800001, 0x80000000, 0x7f800001, 0
  CASE 4
  COMPARE feq.s, 0x7fc00000, 0x7fc00000, 0, 0
  COMPARE feq.s, 0x7f800001, 0x7f800001, 0, 0x10
  COMPARE flt.s, 0x7fc00000, 0, 0, 0x10
  COMPARE fle.s, 0x80000000, 0, 1, 0
  COMPARE flt.s, 0x80000000, 0, 0, 0
  CASE 5
  CONVERT fcvt.w.s, rtz, 0xbf8ccccd, -1, 1
  CONVERT fcvt.w.s, rdn, 0xbf8ccccd, -2, 1
  CONVERT fcvt.w.s, rne, 0x40200000, 2, 1
  CONVERT fcvt.w.s, rmm, 0x40200000, 3, 1
  CONVERT fcvt.w.s, rup, 0x3f000000, 1, 1
  CONVERT fcvt.w.s, rtz, 0x4f000000, 0x7fffffff, 0x10
  CONVERT fcvt.w.s, rtz, 0x7fc00000, 0x7fffffff, 0x10
  CONVERT fcvt.w.s, rtz, 0xff800000, 0x80000000, 0x10
  CONVERT fcvt.wu.s, rtz, 0xbf000000, 0, 1
  CONVERT fcvt.wu.s, rtz, 0xbf800000, 0, 0x10
  CONVERT fcvt.wu.s, rtz, 0x4f800000, 0xffffffff, 0x10
  CASE 6
  li a1, 0x7fffffff
  fcvt.s.w fa0, a1, rne
  fmv.x.w a0, fa0
  EXPECT a0, 0x4f000000
  EXPECT_FLAGS 1
  fcvt.s.wu fa0, a1, rtz
  fmv.x.w a0, fa0
  EXPECT a0, 0x4effffff
  EXPECT_FLAGS 1
  CASE 7                   # the fused ones round once, with their signs
  SINGLE fa0, 0x3f800001
  SINGLE fa1, 0x3f800001
  SINGLE fa2, 0xbf800002
  fmadd.s fa3, fa0, fa1, fa2
  fmv.x.w a0, fa3
  EXPECT a0, 0x28800000
  EXPECT_FLAGS 0
  fnmadd.s fa3, fa0, fa1, fa2
  fmv.x.w a0, fa3
  EXPECT a0, 0xa8800000
  fmsub.s fa3, fa0, fa1, fa2
  fmv.x.w a0, fa3
  EXPECT a0, 0x40000002
  fnmsub.s fa3, fa0, fa1, fa2
  fmv.x.w a0, fa3
  EXPECT a0, 0xc0000002
  EXPECT_FLAGS 1
  SINGLE fa0, 0x7f800000
  fmv.w.x fa4, zero
  fmadd.s fa3, fa0, fa4, fa2
  EXPECT_FLAGS 0x10
  CASE 8                   # classes
  .irp pair, 0xff800000, 0xbf800000, 0x80000001, 0x80000000, 0, 1, 0x3f800000, 0x7f800000, 0x7f800001, 0x7fc00000
  SINGLE fa0, \pair
  fclass.s a0, fa0
  la t0, class
  lw t1, 0(t0)
  slli t2, t1, 1
  sw t2, 0(t0)
  bne a0, t1, fail
  .endr
  CASE 9                   # the dynamic rounding mode, changed between
  li a1, 0x01000001
  fsrmi 2
  fcvt.s.w fa0, a1
  fsrmi 3
  fcvt.s.w fa1, a1
  fsrmi 0
  fmv.x.w a0, fa0
  fmv.x.w a1, fa1
  EXPECT a0, 0x4b800000
  EXPECT a1, 0x4b800001
  CASE 10                  # flags of what is under way are waited for
  csrwi fflags, 0
  SINGLE fa0, 0x7f7fffff
  fmul.s fa1, fa0, fa0
  csrr a0, fflags
  EXPECT a0, 5
  csrwi fflags, 0
  j pass
  END
  .data
  .balign 8
class: .word 1
room: .space 16
