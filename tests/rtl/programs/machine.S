# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A trap handler that records mcause, mtval and where (mepc less s2) at s0, then goes
# on at the address in s1. Registers t0 and t1 are its own.
  .text
  .balign 4
  .globl handler
handler:
  csrr t0, mcause
  sw t0, 0(s0)
  csrr t0, mtval
  sw t0, 4(s0)
  csrr t0, mepc
  sub t0, t0, s2
  sw t0, 8(s0)
  addi s0, s0, 12
  csrw mepc, s1
  mret

# Vectored: each interrupt has an entry of its own.
  .balign 256
  .globl vectors
vectors:
  j handler              # exceptions
  j stray
  j stray
  j software             # 3
  j stray
  j stray
  j stray
  j timer                # 7
stray:
  li a0, 99
  j finish
software:
  li t0, CLINT           # take it back
  sw zero, 0(t0)
  fence                  # it is gone now
  li t0, 0x333
  sw t0, 0(s0)
  addi s0, s0, 4
  mret
timer:
  li t0, CLINT + 0x4000  # never again
  li t1, -1
  sw t1, 4(t0)
  fence
  li t0, 0x777
  sw t0, 0(s0)
  csrr t0, mcause
  sw t0, 4(s0)
  csrr t0, mstatus
  sw t0, 8(s0)
  addi s0, s0, 12
  mret
