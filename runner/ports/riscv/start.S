/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Start-up, traps, and calls of foreign code in machine mode. All state of a call is in dojo_guard,
 * so that no register and no word of the kernel's stack needs to survive it. */
#include "port_config.h"

#if __riscv_xlen == 64
#define LOAD ld
#define STORE sd
#define WORD 8
#else
#define LOAD lw
#define STORE sw
#define WORD 4
#endif
#define HOST_SP 0 * WORD
#define KERNEL_SP 1 * WORD
#define ENTRY 2 * WORD
#define ARGUMENT 3 * WORD
#define LEFT 4 * WORD
#define ACTIVE 5 * WORD
#define CAUSE 6 * WORD
#define PC 7 * WORD
#define ADDRESS 8 * WORD
#define START 10 * WORD
#define END 10 * WORD + 16

#define MSTATUS_MIE 8
#define MSTATUS_FLOAT 0x6000
#define MSTATUS_VECTOR 0x600
#if DOJO_VECTORS
#define MSTATUS_UNITS MSTATUS_FLOAT | MSTATUS_VECTOR
#else
#define MSTATUS_UNITS MSTATUS_FLOAT
#endif
/* By number: the firmware itself is compiled for neither floats nor vectors. */
#define FCSR 0x003
#define VSTART 0x008
#define VCSR 0x00f

        .section .text.dojo_start, "ax"
        .globl  dojo_start, dojo_port_reset
dojo_start:
dojo_port_reset:
        csrw    mie, zero
        csrr    t0, mhartid
1:      bnez    t0, 1b
        call    set_gp
        la      sp, dojo_stack_top
        la      t0, dojo_bss
        la      t1, dojo_bss_end
2:      STORE   zero, 0(t0)
        addi    t0, t0, WORD
        bltu    t0, t1, 2b
        j       dojo_main

set_gp: .option push
        .option norelax
        la      gp, __global_pointer$
        .option pop
        ret

        .text
        .p2align 2
trap:   la      s0, dojo_guard
        LOAD    t0, ACTIVE(s0)
        beqz    t0, dojo_start /* the runner itself failed */
        csrr    t0, mcause
        STORE   t0, CAUSE(s0)
        csrr    t0, mepc
        STORE   t0, PC(s0)
        csrr    t0, mtval
        STORE   t0, ADDRESS(s0)
        li      a0, 2
        j       leave

        .globl  dojo_machine_batch
dojo_machine_batch:
        jal     t0, __riscv_save_12
        la      t0, trap
        csrw    mtvec, t0
        la      s0, dojo_guard
        STORE   sp, HOST_SP(s0)
        STORE   sp, ACTIVE(s0)
        li      t0, MSTATUS_UNITS
        csrs    mstatus, t0
        csrr    t0, mstatus
        srli    t0, t0, 9
        andi    t1, t0, MSTATUS_FLOAT >> 9
        beqz    t1, 1f
        csrw    FCSR, zero
1:
#if DOJO_VECTORS
        andi    t1, t0, MSTATUS_VECTOR >> 9
        beqz    t1, 2f
        csrw    VSTART, zero
        csrw    VCSR, zero
2:
#endif
        LOAD    sp, KERNEL_SP(s0)
        csrsi   mstatus, MSTATUS_MIE
        addi    a1, s0, START
        jal     t0, read
3:      LOAD    a0, ARGUMENT(s0)
        LOAD    t1, ENTRY(s0)
        jalr    t1
        la      s0, dojo_guard
        LOAD    t1, KERNEL_SP(s0)
        li      a0, 1
        bne     sp, t1, leave
        LOAD    t1, LEFT(s0)
        addi    t1, t1, -1
        STORE   t1, LEFT(s0)
        bnez    t1, 3b
        addi    a1, s0, END
        jal     t0, read
        li      a0, 0
leave:  csrci   mstatus, MSTATUS_MIE
        la      s0, dojo_guard
        STORE   zero, ACTIVE(s0)
        LOAD    sp, HOST_SP(s0)
        call    set_gp
        j       __riscv_restore_12

/* The counters to a1; returns to t0. */
read:
#if __riscv_xlen == 64
        csrr    t1, mcycle
        sd      t1, 0(a1)
        csrr    t1, minstret
        sd      t1, 8(a1)
#else
1:      csrr    t1, mcycleh
        csrr    t2, mcycle
        csrr    t3, mcycleh
        bne     t1, t3, 1b
        sw      t2, 0(a1)
        sw      t1, 4(a1)
2:      csrr    t1, minstreth
        csrr    t2, minstret
        csrr    t3, minstreth
        bne     t1, t3, 2b
        sw      t2, 8(a1)
        sw      t1, 12(a1)
#endif
        jr      t0

        .globl  dojo_empty_kernel
dojo_empty_kernel:
        ret

/* What -msave-restore calls on rv32, four registers at a time: ra and as many of s0 to s11 as the name
 * says, at least. Returns to t0. */
        .macro  entries kind, names:vararg
        .irp    n, \names
        .globl  __riscv_\kind\()_\n
__riscv_\kind\()_\n:
        .endr
        .endm

        entries save, 12
        addi    sp, sp, -16 * WORD
        li      t1, 0
        STORE   s11, 3 * WORD(sp)
        j       1f
        entries save, 8, 9, 10, 11
        addi    sp, sp, -16 * WORD
        li      t1, 4 * WORD
1:      STORE   s10, 4 * WORD(sp)
        STORE   s9, 5 * WORD(sp)
        STORE   s8, 6 * WORD(sp)
        STORE   s7, 7 * WORD(sp)
        j       2f
        entries save, 4, 5, 6, 7
        addi    sp, sp, -16 * WORD
        li      t1, 8 * WORD
2:      STORE   s6, 8 * WORD(sp)
        STORE   s5, 9 * WORD(sp)
        STORE   s4, 10 * WORD(sp)
        STORE   s3, 11 * WORD(sp)
        j       3f
        entries save, 0, 1, 2, 3
        addi    sp, sp, -16 * WORD
        li      t1, 12 * WORD
3:      STORE   s2, 12 * WORD(sp)
        STORE   s1, 13 * WORD(sp)
        STORE   s0, 14 * WORD(sp)
        STORE   ra, 15 * WORD(sp)
        add     sp, sp, t1
        jr      t0

        entries restore, 12
        LOAD    s11, 3 * WORD(sp)
        addi    sp, sp, 4 * WORD
        entries restore, 8, 9, 10, 11
        LOAD    s10, 0 * WORD(sp)
        LOAD    s9, 1 * WORD(sp)
        LOAD    s8, 2 * WORD(sp)
        LOAD    s7, 3 * WORD(sp)
        addi    sp, sp, 4 * WORD
        entries restore, 4, 5, 6, 7
        LOAD    s6, 0 * WORD(sp)
        LOAD    s5, 1 * WORD(sp)
        LOAD    s4, 2 * WORD(sp)
        LOAD    s3, 3 * WORD(sp)
        addi    sp, sp, 4 * WORD
        entries restore, 0, 1, 2, 3
        LOAD    s2, 0 * WORD(sp)
        LOAD    s1, 1 * WORD(sp)
        LOAD    s0, 2 * WORD(sp)
        LOAD    ra, 3 * WORD(sp)
        addi    sp, sp, 4 * WORD
        ret
