# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What sequences of instructions take on the public Snitch cluster RTL (revision 2fa3848, default
# configuration), from one reading of mcycle to the next, the caches warm. Marks of a row,
# each behind "#: ":
#   row NAME
#   cycles N             what the RTL takes
#   allowed N            instead of 2 cycles or 3%
#   most N               instead of cycles: less is well, the sequence isn't the same
#   hart dma             runs on the hart beside the DMA engine
#   cold N               N lines of code: what the first run takes longer, a line
#   gives N              what `after` leaves in a0
#   prepare              code before; not timed
#   body                 what is timed
#   after                code after; not timed
# `work` is the address of some TCDM, `dram` of some DRAM. s7 to s11 are taken. fa0 = 1.0, fa1 = 2.0,
# fa2 = 0.5. The register that `synchronise` reads decides whether it waits for a result.

#: row integer: nothing between two reads
#: cycles 1
#: body

#: row integer: 8 dependent adds
#: cycles 9
#: body
.rept 8
  addi t0, t0, 1
.endr

#: row branch: 8 taken, to what follows
#: cycles 9
#: body
.rept 8
  beq zero, zero, .+4
.endr

#: row branch: 8 not taken
#: cycles 9
#: body
.rept 8
  bne zero, zero, .+8
.endr

#: row jump: 8 jal, to what follows
#: cycles 9
#: body
.rept 8
  jal zero, .+4
.endr

#: row loop: addi and bnez, 16 times
#: cycles 34
#: body
  li t0, 16
1:
  addi t0, t0, -1
  bnez t0, 1b

#: row loop: addi and bnez, 64 times
#: cycles 130
#: body
  li t0, 64
1:
  addi t0, t0, -1
  bnez t0, 1b

#: row load: 8 independent, TCDM
#: cycles 9
#: prepare
  li t0, work
#: body
  lw a0, 0(t0)
  lw a1, 8(t0)
  lw a2, 16(t0)
  lw a3, 24(t0)
  lw a4, 32(t0)
  lw a5, 40(t0)
  lw a6, 48(t0)
  lw a7, 56(t0)

#: row load: 8 dependent, TCDM
#: cycles 30
#: prepare
  li t0, work
  sw t0, 0(t0)
  fence
#: body
.rept 8
  lw t0, 0(t0)
.endr

#: row load and dependent add, 8 pairs, TCDM
#: cycles 41
#: prepare
  li t0, work
#: body
.rept 8
  lw t1, 0(t0)
  add t2, t2, t1
.endr

#: row store: 8, TCDM
#: cycles 9
#: prepare
  li t0, work
#: body
  sw a0, 0(t0)
  sw a0, 8(t0)
  sw a0, 16(t0)
  sw a0, 24(t0)
  sw a0, 32(t0)
  sw a0, 40(t0)
  sw a0, 48(t0)
  sw a0, 56(t0)

#: row store, load of it and use, 8 times
#: cycles 49
#: prepare
  li t0, work
  li t1, 0
#: body
.rept 8
  sw t1, 0(t0)
  lw t1, 0(t0)
  addi t1, t1, 1
.endr

#: row load and dependent add, 8 pairs, DRAM
#: cycles 97
#: prepare
  li t0, dram
#: body
.rept 8
  lw t1, 0(t0)
  add t2, t2, t1
.endr

#: row mul: 8 dependent, and use
#: cycles 34
#: prepare
  li t0, 3
  li t1, 5
#: body
.rept 8
  mul t0, t0, t1
.endr
  mv t0, t0

#: row mul: 8 to two destinations, and use
#: cycles 19
#: prepare
  li t0, 3
  li t1, 5
#: body
.rept 4
  mul a0, t0, t1
  mul a1, t0, t1
.endr
  mv a1, a1

#: row mul: 8 to four destinations, and use
#: cycles 13
#: prepare
  li t0, 3
  li t1, 5
#: body
.rept 2
  mul a0, t0, t1
  mul a1, t0, t1
  mul a2, t0, t1
  mul a3, t0, t1
.endr
  mv a3, a3

#: row div: 1000 / 3 / 3 / 3 / 3, and use
#: cycles 46
#: prepare
  li t0, 1000
  li t1, 3
#: body
.rept 4
  divu t0, t0, t1
.endr
  mv t0, t0

#: row csr: 8 reads
#: cycles 9
#: body
.rept 8
  csrr t0, mhartid
.endr

#: row csr: streams on and off, 4 times
#: cycles 9
#: body
.rept 4
  streams_on
  streams_off
.endr

#: row scfgwi: 8
#: cycles 9
#: prepare
  li t0, 0
#: body
.rept 8
  scfgwi t0, 2, 0
.endr

#: row jalr: 8 calls (auipc, jalr) and returns
#: cycles 25
#: prepare
  j 3f
  .p2align 5
2:
  ret
3:
#: body
.rept 8
4:
  auipc ra, %pcrel_hi(2b)
  jalr ra, %pcrel_lo(4b)(ra)
.endr

#: row fadd.d: 16 dependent, and sync
#: cycles 71
#: body
.rept 16
  fadd.d fa0, fa0, fa1
.endr
  synchronise

#: row fmul.d: 16 dependent, and sync
#: cycles 71
#: body
.rept 16
  fmul.d fa0, fa0, fa1
.endr
  synchronise

#: row fmadd.d: 16 dependent, and sync
#: cycles 71
#: body
.rept 16
  fmadd.d fa0, fa1, fa2, fa0
.endr
  synchronise

#: row fadd.s: 16 dependent, and sync
#: cycles 71
#: body
.rept 16
  fadd.s fa0, fa0, fa1
.endr
  synchronise

#: row fmax.d: 16 dependent, and sync
#: cycles 39
#: body
.rept 16
  fmax.d fa0, fa0, fa1
.endr
  synchronise

#: row fsgnj.d: 16 dependent, and sync
#: cycles 39
#: body
.rept 16
  fsgnjx.d fa0, fa0, fa1
.endr
  synchronise

#: row fcvt.s.d, fcvt.d.s: 8 pairs, dependent, and sync
#: cycles 55
#: body
.rept 8
  fcvt.s.d fa0, fa0
  fcvt.d.s fa0, fa0
.endr
  synchronise

#: row fmadd.d: 16 independent, and sync
#: cycles 24
#: body
.irp r, ft3, ft4, ft5, ft6, ft7, fa3, fa4, fa5, fa6, fa7, fs2, fs3, fs4, fs5, fs6, fs7
  fmadd.d \r, fa1, fa2, fa1
.endr
  synchronise

#: row fadd.d: 16 to one destination, and sync
#: cycles 71
#: body
.rept 16
  fadd.d fa0, fa1, fa2
.endr
  synchronise

#: row fadd.d: 40 dependent, not waited for
#: cycles 41
#: body
.rept 40
  fadd.d fa0, fa0, fa1
.endr

#: row fadd.d: 48 dependent, not waited for
#: cycles 58
#: body
.rept 48
  fadd.d fa0, fa0, fa1
.endr

#: row fadd.d: 64 dependent, not waited for
#: cycles 122
#: body
.rept 64
  fadd.d fa0, fa0, fa1
.endr

#: row fmadd.d: 16 dependent, not waited for
#: cycles 17
#: body
.rept 16
  fmadd.d fa0, fa1, fa2, fa0
.endr

#: row fld: 16 independent, and sync
#: cycles 23
#: prepare
  li t1, work
  doubles 16
  li t1, work
#: body
.irp r, ft3, ft4, ft5, ft6, ft7, fa3, fa4, fa5
  fld \r, 0(t1)
.endr
.irp r, fa6, fa7, fs2, fs3, fs4, fs5, fs6, fs7
  fld \r, 64(t1)
.endr
  synchronise

#: row fld and dependent fadd.d: 8 pairs, and sync
#: cycles 46
#: prepare
  li t1, work
  doubles 16
  li t1, work
#: body
.irp r, ft3, ft4, ft5, ft6, ft7, fa3, fa4, fa5
  fld \r, 0(t1)
  fadd.d \r, \r, fa1
.endr
  synchronise

#: row fld and fsd of it: 8 pairs, and sync
#: cycles 39
#: prepare
  li t1, work
  doubles 16
  li t1, work
#: body
.irp r, ft3, ft4, ft5, ft6, ft7, fa3, fa4, fa5
  fld \r, 0(t1)
  fsd \r, 512(t1)
.endr
  synchronise

#: row fld, fmul.d, fsd: 8 triples, and sync
#: cycles 71
#: prepare
  li t1, work
  doubles 16
  li t1, work
#: body
.irp r, ft3, ft4, ft5, ft6, ft7, fa3, fa4, fa5
  fld \r, 0(t1)
  fmul.d \r, \r, fa1
  fsd \r, 512(t1)
.endr
  synchronise

#: row fmv.x.w, and use
#: cycles 6
#: body
  synchronise

#: row feq.d, and use
#: cycles 6
#: body
  feq.d t0, fa0, fa1
  mv t0, t0
