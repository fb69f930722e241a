# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Kernels, f64, in the TCDM: what they take beside the RTL, whose figures are given without a harness of
# 46 cycles. How a row is written: snitch.S. Those that were measured there with streams are others'
# code for the same kernel: ours has to be no slower.

#: row axpy 256: streams and frep
#: most 301
#: allowed 15
#: prepare
  li t1, work
  doubles 256
  li t1, work + 4096 + 64
  doubles 256, 1
  # Arguments: n, x, y, z.
  li s0, work + 8192 + 4096
  li t0, 256
  sw t0, 0(s0)
  li t0, work
  sw t0, 4(s0)
  li t0, work + 4096 + 64
  sw t0, 8(s0)
  li t0, work + 8192 + 128
  sw t0, 12(s0)
  fence
#: body
  lw a0, 0(s0)
  lw a1, 4(s0)
  lw a2, 8(s0)
  lw a3, 12(s0)
  addi a0, a0, -1
  li t0, 8
  li t1, 0
.irp mover, 0, 1, 2
  scfgwi t1, 1, \mover
  scfgwi a0, 2, \mover
  scfgwi t0, 6, \mover
.endr
  scfgwi a1, 24, 0
  scfgwi a2, 24, 1
  scfgwi a3, 28, 2
  streams_on
  frep a0, 1
  fmadd.d ft2, fa1, ft0, ft1
  synchronise
  streams_off
#: after
  # Element 255: 2 * 7 + 8.
  fld ft3, 2040(a3)
  fcvt.w.d a0, ft3
#: gives 22

#: row dot 256: streams and frep
#: most 321
#: allowed 16
#: prepare
  li t1, work
  doubles 256
  li t1, work + 4096 + 64
  doubles 256, 1
  li s0, work + 8192 + 4096
  li t0, 256
  sw t0, 0(s0)
  li t0, work
  sw t0, 4(s0)
  li t0, work + 4096 + 64
  sw t0, 8(s0)
  li t0, work + 8192 + 128
  sw t0, 12(s0)
  fence
#: body
  lw a0, 0(s0)
  lw a1, 4(s0)
  lw a2, 8(s0)
  lw a3, 12(s0)
  addi a0, a0, -1
  li t0, 8
  li t1, 0
.irp mover, 0, 1
  scfgwi t1, 1, \mover
  scfgwi a0, 2, \mover
  scfgwi t0, 6, \mover
.endr
  scfgwi a1, 24, 0
  scfgwi a2, 24, 1
.irp r, ft3, ft4, ft5, ft6
  fcvt.d.w \r, zero
.endr
  streams_on
  # Staggered: the sum, as destination and as addend.
  frep a0, 1, 3, x19
  fmadd.d ft3, ft0, ft1, ft3
  fadd.d ft3, ft3, ft4
  fadd.d ft5, ft5, ft6
  fadd.d ft3, ft3, ft5
  fsd ft3, 0(a3)
  synchronise
  streams_off
#: after
  # 32 times the sum of i * (i + 1) for i < 8.
  fld ft3, 0(a3)
  fcvt.w.d a0, ft3
#: gives 5376

#: row matmul 16^3: streams, frep, integer loop outside
#: most 4699
#: allowed 235
#: prepare
  li t1, work
  doubles 256
  li t1, work + 4096 + 64
  doubles 256, 1
  li a1, work
  li a2, work + 4096 + 64
  li a3, work + 8192 + 128
  fence
#: body
  # A: k (16), columns by 8 (2), rows (16); each element 8 times.
  li t0, 7
  scfgwi t0, 1, 0
  li t0, 15
  scfgwi t0, 2, 0
  li t0, 1
  scfgwi t0, 3, 0
  li t0, 15
  scfgwi t0, 4, 0
  li t0, 8
  scfgwi t0, 6, 0
  li t0, -120
  scfgwi t0, 7, 0
  li t0, 8
  scfgwi t0, 8, 0
  # B: column (8), k (16), columns by 8 (2), rows (16).
  li t0, 0
  scfgwi t0, 1, 1
  li t0, 7
  scfgwi t0, 2, 1
  li t0, 15
  scfgwi t0, 3, 1
  li t0, 1
  scfgwi t0, 4, 1
  li t0, 15
  scfgwi t0, 5, 1
  li t0, 8
  scfgwi t0, 6, 1
  li t0, 72
  scfgwi t0, 7, 1
  li t0, -1912
  scfgwi t0, 8, 1
  li t0, -2040
  scfgwi t0, 9, 1
  scfgwi a1, 26, 0
  scfgwi a2, 27, 1
  streams_on
  li t1, 32
  li t2, 15
  mv t3, a3
1:
.irp r, ft3, ft4, ft5, ft6, ft7, fa3, fa4, fa5
  fcvt.d.w \r, zero
.endr
  frep t2, 8
.irp r, ft3, ft4, ft5, ft6, ft7, fa3, fa4, fa5
  fmadd.d \r, ft0, ft1, \r
.endr
  fsd ft3, 0(t3)
  fsd ft4, 8(t3)
  fsd ft5, 16(t3)
  fsd ft6, 24(t3)
  fsd ft7, 32(t3)
  fsd fa3, 40(t3)
  fsd fa4, 48(t3)
  fsd fa5, 56(t3)
  addi t3, t3, 64
  addi t1, t1, -1
  bnez t1, 1b
  synchronise
  streams_off
#: after
  # C[i][j] = sum over k of (k mod 8) * (j mod 8 + 1) = 56 * (j mod 8 + 1); the sum of all.
  li t1, 256
  fcvt.d.w ft4, zero
  mv t3, a3
1:
  fld ft3, 0(t3)
  fadd.d ft4, ft4, ft3
  addi t3, t3, 8
  addi t1, t1, -1
  bnez t1, 1b
  fcvt.w.d a0, ft4
#: gives 64512

#: row matmul 16^3: streams, nested frep
#: most 4185
#: allowed 209
#: prepare
  li t1, work
  doubles 256
  li t1, work + 4096 + 64
  doubles 256, 1
  li a1, work
  li a2, work + 4096 + 64
  li a3, work + 8192 + 128
  fence
#: body
  li t0, 7
  scfgwi t0, 1, 0
  li t0, 15
  scfgwi t0, 2, 0
  li t0, 1
  scfgwi t0, 3, 0
  li t0, 15
  scfgwi t0, 4, 0
  li t0, 8
  scfgwi t0, 6, 0
  li t0, -120
  scfgwi t0, 7, 0
  li t0, 8
  scfgwi t0, 8, 0
  li t0, 0
  scfgwi t0, 1, 1
  li t0, 7
  scfgwi t0, 2, 1
  li t0, 15
  scfgwi t0, 3, 1
  li t0, 1
  scfgwi t0, 4, 1
  li t0, 15
  scfgwi t0, 5, 1
  li t0, 8
  scfgwi t0, 6, 1
  li t0, 72
  scfgwi t0, 7, 1
  li t0, -1912
  scfgwi t0, 8, 1
  li t0, -2040
  scfgwi t0, 9, 1
  # C: one row of 256.
  li t0, 0
  scfgwi t0, 1, 2
  li t0, 255
  scfgwi t0, 2, 2
  li t0, 8
  scfgwi t0, 6, 2
  scfgwi a1, 26, 0
  scfgwi a2, 27, 1
  scfgwi a3, 28, 2
  streams_on
  li t1, 31
  li t2, 13
  frep t1, 24
.irp r, ft3, ft4, ft5, ft6, ft7, fa3, fa4, fa5
  fmul.d \r, ft0, ft1
.endr
  frep t2, 8
.irp r, ft3, ft4, ft5, ft6, ft7, fa3, fa4, fa5
  fmadd.d \r, ft0, ft1, \r
.endr
.irp r, ft3, ft4, ft5, ft6, ft7, fa3, fa4, fa5
  fmadd.d ft2, ft0, ft1, \r
.endr
  synchronise
  streams_off
#: after
  li t1, 256
  fcvt.d.w ft4, zero
  mv t3, a3
1:
  fld ft3, 0(t3)
  fadd.d ft4, ft4, ft3
  addi t3, t3, 8
  addi t1, t1, -1
  bnez t1, 1b
  fcvt.w.d a0, ft4
#: gives 64512

#: row axpy 256: C, clang -O3
#: cycles 2320
#: allowed 116
#: prepare
  li t1, work
  doubles 256
  li t1, work + 4096 + 64
  doubles 256, 1
  fence
#: body
  li a0, 256
  li a1, work
  li a2, work + 4096 + 64
  fmv.d fa0, fa1
  call timing_axpy
  synchronise
#: after
  li t0, work + 4096 + 64
  fld ft3, 2040(t0)
  fcvt.w.d a0, ft3
#: gives 22

#: row dot 256: C, clang -O3
#: cycles 1569
#: allowed 78
#: prepare
  li t1, work
  doubles 256
  li t1, work + 4096 + 64
  doubles 256, 1
  fence
#: body
  li a0, 256
  li a1, work
  li a2, work + 4096 + 64
  li a3, work + 8192 + 128
  call timing_dot
  synchronise
#: after
  li t0, work + 8192 + 128
  fld ft3, 0(t0)
  fcvt.w.d a0, ft3
#: gives 5376

#: row matmul 16^3: C, clang -O3
#: cycles 31447
#: allowed 1572
#: prepare
  li t1, work
  doubles 256
  li t1, work + 4096 + 64
  doubles 256, 1
  fence
#: body
  li a0, 16
  li a1, work
  li a2, work + 4096 + 64
  li a3, work + 8192 + 128
  call timing_matmul
  synchronise
#: after
  li t1, 256
  fcvt.d.w ft4, zero
  li t3, work + 8192 + 128
1:
  fld ft3, 0(t3)
  fadd.d ft4, ft4, ft3
  addi t3, t3, 8
  addi t1, t1, -1
  bnez t1, 1b
  fcvt.w.d a0, ft4
#: gives 64512
