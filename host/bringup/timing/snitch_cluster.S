# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Hardware loops, streams, barrier, DMA, instruction cache. How a row is written: snitch.S.

#: row frep: 4 independent operations, 16 times, and sync
#: cycles 73
#: prepare
  li t1, 15
#: body
  frep t1, 4
  fadd.d ft3, fa1, fa2
  fadd.d ft4, fa1, fa2
  fadd.d ft5, fa1, fa2
  fadd.d ft6, fa1, fa2
  synchronise

#: row frep: 4 independent operations, 64 times, and sync
#: cycles 265
#: prepare
  li t1, 63
#: body
  frep t1, 4
  fadd.d ft3, fa1, fa2
  fadd.d ft4, fa1, fa2
  fadd.d ft5, fa1, fa2
  fadd.d ft6, fa1, fa2
  synchronise

#: row frep: 1 dependent operation, 16 times, and sync
#: cycles 69
#: prepare
  li t1, 15
  fcvt.d.w ft3, zero
#: body
  frep t1, 1
  fadd.d ft3, ft3, fa1
  synchronise

#: row frep: 1 operation, 16 times, staggered over 4 registers, and sync
#: cycles 25
#: prepare
  li t1, 15
.irp r, ft3, ft4, ft5, ft6
  fcvt.d.w \r, zero
.endr
#: body
  frep t1, 1, 3, x7
  fadd.d ft3, ft3, fa1
  synchronise

#: row frep: 1 operation, 16 times, staggered over 3 registers, and sync
#: cycles 29
#: prepare
  li t1, 15
.irp r, ft3, ft4, ft5
  fcvt.d.w \r, zero
.endr
#: body
  frep t1, 1, 2, x7
  fadd.d ft3, ft3, fa1
  synchronise

#: row frep: 32 operations, 16 times, and sync
#: cycles 522
#: prepare
  li t1, 15
#: body
  frep t1, 32
.rept 4
.irp r, ft3, ft4, ft5, ft6, ft7, fa3, fa4, fa5
  fadd.d \r, fa1, fa2
.endr
.endr
  synchronise

#: row frep: 4 operations, 16 times, beside 64 integer instructions, and sync
#: cycles 76
#: prepare
  li t1, 15
#: body
  frep t1, 4
  fadd.d ft3, fa1, fa2
  fadd.d ft4, fa1, fa2
  fadd.d ft5, fa1, fa2
  fadd.d ft6, fa1, fa2
.rept 64
  addi t2, t2, 1
.endr
  synchronise

#: row streams: 4-D set-up of one mover
#: cycles 19
#: prepare
#: body
  li t0, 3
  scfgwi t0, 2, 0
  li t0, 3
  scfgwi t0, 3, 0
  li t0, 3
  scfgwi t0, 4, 0
  li t0, 3
  scfgwi t0, 5, 0
  li t0, 8
  scfgwi t0, 6, 0
  li t0, 8
  scfgwi t0, 7, 0
  li t0, 8
  scfgwi t0, 8, 0
  li t0, 8
  scfgwi t0, 9, 0
  lui t0, %hi(work)
  scfgwi t0, 27, 0
#: after
  # What was started is taken.
  li t1, 255
  streams_on
  frep t1, 1, 3, x3
  fadd.d ft3, ft0, fa1
  synchronise ft3
  streams_off

#: row streams: 2 read, 1 written, 32 fmadd.d, and sync
#: cycles 43
#: prepare
  li t1, work
  doubles 32
  li t1, work + 4096 + 64
  doubles 32
  li t1, 31
  scfgwi t1, 2, 31
  li t0, 8
  scfgwi t0, 6, 31
  li t0, work
  scfgwi t0, 24, 0
  li t0, work + 4096 + 64
  scfgwi t0, 24, 1
  li t0, work + 8192 + 128
  scfgwi t0, 28, 2
#: body
  streams_on
  frep t1, 1
  fmadd.d ft2, ft0, fa1, ft1
  synchronise
  streams_off
#: after
  # Element 31: 7 * 2 + 7.
  li t0, work + 8192 + 128
  fld ft3, 248(t0)
  fcvt.w.d a0, ft3
#: gives 21

#: row streams: 2 read, 1 written, 256 fmadd.d, and sync
#: cycles 267
#: prepare
  li t1, work
  doubles 256
  li t1, work + 4096 + 64
  doubles 256
  li t1, 255
  scfgwi t1, 2, 31
  li t0, 8
  scfgwi t0, 6, 31
  li t0, work
  scfgwi t0, 24, 0
  li t0, work + 4096 + 64
  scfgwi t0, 24, 1
  li t0, work + 8192 + 128
  scfgwi t0, 28, 2
#: body
  streams_on
  frep t1, 1
  fmadd.d ft2, ft0, fa1, ft1
  synchronise
  streams_off
#: after
  li t0, work + 8192 + 128
  fld ft3, 2040(t0)
  fcvt.w.d a0, ft3
#: gives 21

#: row streams: 2 read from one bank, 32 elements, and sync
#: cycles 69
#: prepare
  li t1, 31
  scfgwi t1, 2, 31
  li t0, 256
  scfgwi t0, 6, 31
  li t0, work
  scfgwi t0, 24, 0
  scfgwi t0, 24, 1
#: body
  streams_on
  frep t1, 1, 3, x3
  fmul.d ft3, ft0, ft1
  synchronise
  streams_off

#: row streams: 2 read from one bank, 256 elements, and sync
#: cycles 517
#: prepare
  li t1, 255
  scfgwi t1, 2, 31
  li t0, 256
  scfgwi t0, 6, 31
  li t0, work
  scfgwi t0, 24, 0
  scfgwi t0, 24, 1
#: body
  streams_on
  frep t1, 1, 3, x3
  fmul.d ft3, ft0, ft1
  synchronise
  streams_off

#: row barrier, all others there
#: cycles 3
#: prepare
  # Leaves a command behind by which the others only pass.
  call dojo_dma_wait
  li t1, 200
1:
  addi t1, t1, -1
  bnez t1, 1b
#: body
  barrier
#: after
  li t1, 200
1:
  addi t1, t1, -1
  bnez t1, 1b
  barrier

#: row DMA: 64 B from DRAM to TCDM, with polling
#: cycles 24
#: hart dma
#: prepare
  li a0, dram
  li a1, work + 4096
  li a2, 64
  lw t0, 60(a0)
  addi t0, t0, 1
  sw t0, 60(a0)
  fence
#: body
  dmsrc a0
  dmdst a1
  dmcpyi t2, a2
1:
  dmbusy t0
  bnez t0, 1b
#: after
  # The last word has come.
  lw t0, 60(a0)
  lw t1, 60(a1)
  sub a0, t0, t1
#: gives 0

#: row DMA: 1 KiB from DRAM to TCDM, with polling
#: cycles 39
#: hart dma
#: prepare
  li a0, dram
  li a1, work + 4096
  li a2, 1024
  lw t0, 1020(a0)
  addi t0, t0, 1
  sw t0, 1020(a0)
  fence
#: body
  dmsrc a0
  dmdst a1
  dmcpyi t2, a2
1:
  dmbusy t0
  bnez t0, 1b
#: after
  lw t0, 1020(a0)
  lw t1, 1020(a1)
  sub a0, t0, t1
#: gives 0

#: row DMA: 4 KiB from DRAM to TCDM, with polling
#: cycles 84
#: hart dma
#: prepare
  li a0, dram
  li a1, work + 4096
  li a2, 4096
#: body
  dmsrc a0
  dmdst a1
  dmcpyi t2, a2
1:
  dmbusy t0
  bnez t0, 1b

#: row DMA: 16 KiB from DRAM to TCDM, with polling
#: cycles 279
#: hart dma
#: prepare
  li a0, dram
  li a1, work + 4096
  li a2, 16384
#: body
  dmsrc a0
  dmdst a1
  dmcpyi t2, a2
1:
  dmbusy t0
  bnez t0, 1b

#: row code: the first run of a line
#: cycles 10
#: allowed 3
#: cold 8
#: prepare
  j 9f
.irp n, 1, 2, 3, 4, 5, 6, 7, 8
  .p2align 8
2\n:
  ret
.endr
9:
#: body
.irp n, 1, 2, 3, 4, 5, 6, 7, 8
  jal ra, 2\n\()b
.endr
