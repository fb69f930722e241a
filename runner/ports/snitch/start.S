/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Start-up of all harts, traps, calls of foreign code, and what the harts other than 0 do. See
 * cluster.h. All state of a call is in dojo_guard and dojo_cluster, so that no register and no word
 * of a kernel's stack needs to survive it. */
#include "port_config.h"
#include "ports/snitch/cluster.h"

/* Offsets into dojo_guard. */
#define HOST_SP 0
#define KERNEL_SP 4
#define ENTRY 8
#define ARGUMENT 12
#define LEFT 16
#define ACTIVE 20
#define CAUSE 24
#define PC 28
#define ADDRESS 32
#define HART 36
#define START 40
#define END 56

#define MSTATUS_MIE 8
#define MSTATUS_FLOAT 0x6000
#define MIE_TIMER 0x80
#define FCSR 0x003
/* Words at the top of a stack that are not the kernel's, see bare.c. */
#define CANARIES 32

        .option arch, +f, +d

/* All that the FP side has been given is done: it answers in order. ft3 is no stream. */
        .macro  synchronise
        fmv.x.w t0, ft3
        mv      t0, t0
        .endm

/* Memory sees what this hart has stored; then the last hart of all has come. */
        .macro  barrier
        fence
        csrr    t0, CSR_BARRIER
        .endm

        .section .text.dojo_start, "ax"
        .globl  dojo_start
dojo_start:
        csrci   mstatus, MSTATUS_MIE
        li      t0, MSTATUS_FLOAT
        csrs    mstatus, t0
        la      t0, trap
        csrw    mtvec, t0
        li      t0, MIE_TIMER
        csrw    mie, t0
        csrci   CSR_SSR, 1
        csrw    FCSR, zero
        csrr    s1, mhartid
        /* The interrupt by which the boot ROM was left. */
        li      s2, 1
        sll     s2, s2, s1
        li      t0, INTERRUPT_CLEAR
        sw      s2, 0(t0)
        bnez    s1, 1f
        jal     clear
        /* The others may still be in the boot ROM, where a debugger started this hart alone. */
        la      t1, dojo_start
        li      t0, SCRATCH1
        sw      t1, 0(t0)
        li      t1, 0x1fe
        li      t0, INTERRUPT_SET
        sw      t1, 0(t0)
1:      barrier
        la      s0, dojo_cluster
        addi    t0, s0, CLUSTER_PRESENT
        amoor.w zero, s2, (t0)
        barrier
        /* The last hart is the one beside the DMA engine. */
        lw      t0, CLUSTER_PRESENT(s0)
        beqz    s1, 2f
        srl     t0, t0, s1
        addi    t0, t0, -1
        beqz    t0, dma
        j       worker
2:      srli    t0, t0, 1
        beqz    t0, 3f
        addi    s3, s3, 1
        j       2b
3:      sw      s3, CLUSTER_HARTS(s0)
        j       dojo_main

/* The runner anew; the other harts wait at the barrier. */
        .globl  dojo_port_reset
dojo_port_reset:
        csrci   mstatus, MSTATUS_MIE
        csrci   CSR_SSR, 1
        la      t0, dojo_cluster
        lw      s2, CLUSTER_HARTS(t0)
        jal     clear
        la      t0, dojo_cluster
        sw      s2, CLUSTER_HARTS(t0)
        j       dojo_main

/* Sets up hart 0 for C. s3 = 0. */
clear:  .option push
        .option norelax
        la      gp, __global_pointer$
        .option pop
        la      sp, dojo_stack_top
        la      t0, dojo_bss
        la      t1, dojo_bss_end
1:      sw      zero, 0(t0)
        addi    t0, t0, 4
        bltu    t0, t1, 1b
        li      s3, 0
        ret

        .text
/* Compute harts other than 0. */
        .p2align 5
worker: la      s0, dojo_cluster
        csrr    s1, mhartid
        li      t0, DOJO_STACK_SIZE
        addi    t1, s1, 1
        mul     t0, t0, t1
        li      sp, DOJO_STACK_BASE - CANARIES
        add     sp, sp, t0
        barrier
        lw      t0, CLUSTER_COMMAND(s0)
        lw      s2, CLUSTER_BODY(s0)
        lw      s3, CLUSTER_CONTEXT(s0)
        lw      s4, CLUSTER_COUNT(s0)
        lw      s5, CLUSTER_USED(s0)
        bnez    t0, 4f
        csrsi   mstatus, MSTATUS_MIE
        bgeu    s1, s5, 2f
        bgeu    s1, s4, 2f
1:      mv      a0, s3
        mv      a1, s1
        li      a2, 0
        jalr    s2
        add     s1, s1, s5
        bltu    s1, s4, 1b
2:      csrci   mstatus, MSTATUS_MIE
        synchronise
3:      barrier
        j       worker
4:      addi    t0, t0, -COMMAND_SYNC
        bnez    t0, 3b
        fence.i
        j       3b

/* The hart beside the DMA engine. */
        .p2align 5
dma:    la      s0, dojo_cluster
        barrier
        lw      t1, CLUSTER_COMMAND(s0)
        beqz    t1, 9f
        addi    t1, t1, -COMMAND_COPY
        bnez    t1, 2f
        lw      a0, CLUSTER_DST(s0)
        lw      a1, CLUSTER_SRC(s0)
        lw      a2, CLUSTER_BYTES(s0)
        lw      a3, CLUSTER_DST_STRIDE(s0)
        lw      a4, CLUSTER_SRC_STRIDE(s0)
        lw      a5, CLUSTER_ROWS(s0)
        .insn   r 0x2b, 0, 0, x0, a1, x0        /* dmsrc a1, zero */
        .insn   r 0x2b, 0, 1, x0, a0, x0        /* dmdst a0, zero */
        addi    t1, a5, -1
        bnez    t1, 1f
        .insn   r 0x2b, 0, 2, t0, a2, x0        /* dmcpyi t0, a2, 0 */
        j       9f
1:      .insn   r 0x2b, 0, 6, x0, a4, a3        /* dmstr a4, a3 */
        .insn   r 0x2b, 0, 7, x0, a5, x0        /* dmrep a5 */
        .insn   r 0x2b, 0, 2, t0, a2, x2        /* dmcpyi t0, a2, 2: two dimensions */
        j       9f
2:      addi    t2, t1, COMMAND_COPY - COMMAND_SYNC
        beqz    t2, 6f
        csrsi   mstatus, MSTATUS_MIE
        addi    t1, t1, COMMAND_COPY - COMMAND_WAIT
        bnez    t1, 4f
3:      .insn   r 0x2b, 0, 4, t0, x0, x2        /* dmstati t0, 2: busy */
        bnez    t0, 3b
        j       5f
4:      lw      t1, CLUSTER_BODY(s0)
        lw      a0, CLUSTER_CONTEXT(s0)
        lw      sp, CLUSTER_COUNT(s0)
        jalr    t1
5:      csrci   mstatus, MSTATUS_MIE
9:      barrier
        j       dma
6:      fence.i
        j       9b

        .globl  dojo_port_sync
dojo_port_sync:
        la      a6, dojo_cluster
        li      a7, COMMAND_SYNC
        sw      a7, CLUSTER_COMMAND(a6)
        barrier
        fence.i
        barrier
        ret

        .globl  dojo_dma_copy2d
dojo_dma_copy2d:
        la      a6, dojo_cluster
        lw      t0, CLUSTER_INSIDE(a6)
        csrr    t1, mhartid
        or      t0, t0, t1
        bnez    t0, by_hand
        beqz    a5, 1f
        beqz    a2, 1f
        sw      a0, CLUSTER_DST(a6)
        sw      a1, CLUSTER_SRC(a6)
        sw      a2, CLUSTER_BYTES(a6)
        sw      a3, CLUSTER_DST_STRIDE(a6)
        sw      a4, CLUSTER_SRC_STRIDE(a6)
        sw      a5, CLUSTER_ROWS(a6)
        li      a7, COMMAND_COPY
        j       command
1:      ret

        .globl  dojo_dma_wait
dojo_dma_wait:
        la      a6, dojo_cluster
        lw      t0, CLUSTER_INSIDE(a6)
        csrr    t1, mhartid
        or      t0, t0, t1
        bnez    t0, 1b
        li      a7, COMMAND_WAIT
        j       command

/* dojo_dma_run(function, argument): function(argument) on the hart beside the DMA engine, on the free
 * part of hart 0's stack. */
        .globl  dojo_dma_run
dojo_dma_run:
        la      a6, dojo_cluster
        sw      a0, CLUSTER_BODY(a6)
        sw      a1, CLUSTER_CONTEXT(a6)
        sw      sp, CLUSTER_COUNT(a6)
        li      a7, COMMAND_RUN
/* Hart 0 gives the command a7 and waits for its end; a6 = dojo_cluster. */
command:
        csrci   mstatus, MSTATUS_MIE
        sw      a7, CLUSTER_COMMAND(a6)
        synchronise
        barrier
        barrier
        csrsi   mstatus, MSTATUS_MIE
        lw      t0, CLUSTER_FAULTED(a6)
        bnez    t0, faulted
        ret

/* The copy by loads and stores; any alignment. */
by_hand:
        beqz    a5, 4f
1:      mv      t1, a0
        mv      t2, a1
        mv      t3, a2
        or      t4, a0, a1
        or      t4, t4, a2
        andi    t4, t4, 3
2:      beqz    t3, 3f
        bnez    t4, 5f
        lw      t0, 0(t2)
        sw      t0, 0(t1)
        addi    t1, t1, 4
        addi    t2, t2, 4
        addi    t3, t3, -4
        j       2b
5:      lbu     t0, 0(t2)
        sb      t0, 0(t1)
        addi    t1, t1, 1
        addi    t2, t2, 1
        addi    t3, t3, -1
        j       2b
3:      add     a0, a0, a3
        add     a1, a1, a4
        addi    a5, a5, -1
        bnez    a5, 1b
4:      ret

/* dojo_parallel_for(body, context, count): hart h runs the iterations h, h + used, ... What the loop
 * needs stands in dojo_cluster, where nothing else writes while a section runs. */
        .p2align 6
        .globl  dojo_parallel_for
dojo_parallel_for:
        la      a6, dojo_cluster
        lw      a7, CLUSTER_USED(a6)
        addi    sp, sp, -16
        sw      ra, 12(sp)
        sw      s0, 8(sp)
        sw      s1, 4(sp)
        li      t0, 1
        beq     a7, t0, alone
        sw      a0, CLUSTER_BODY(a6)
        sw      a1, CLUSTER_CONTEXT(a6)
        sw      a2, CLUSTER_COUNT(a6)
        csrci   mstatus, MSTATUS_MIE
        sw      zero, CLUSTER_COMMAND(a6)
        synchronise
        barrier
        sw      a7, CLUSTER_INSIDE(a6)
        csrsi   mstatus, MSTATUS_MIE
        mv      s0, a6
        mv      s1, zero
        beqz    a2, 2f
        mv      t0, a0
1:      lw      a0, CLUSTER_CONTEXT(s0)
        mv      a1, s1
        li      a2, 0
        jalr    t0
        lw      t1, CLUSTER_USED(s0)
        lw      t2, CLUSTER_COUNT(s0)
        lw      t0, CLUSTER_BODY(s0)
        add     s1, s1, t1
        bltu    s1, t2, 1b
2:      csrci   mstatus, MSTATUS_MIE
        sw      zero, CLUSTER_INSIDE(s0)
        synchronise
        barrier
        lw      t0, CLUSTER_FAULTED(s0)
        lw      ra, 12(sp)
        lw      s0, 8(sp)
        lw      s1, 4(sp)
        csrsi   mstatus, MSTATUS_MIE
        addi    sp, sp, 16
        bnez    t0, faulted
        ret
/* One hart runs all of them. */
alone:  sw      s2, 0(sp)
        addi    sp, sp, -16
        sw      s3, 12(sp)
        sw      s4, 8(sp)
        mv      s2, a0
        mv      s3, a1
        mv      s4, a2
        li      s1, 0
        beqz    s4, 2f
1:      mv      a0, s3
        mv      a1, s1
        li      a2, 0
        jalr    s2
        addi    s1, s1, 1
        bltu    s1, s4, 1b
2:      lw      s3, 12(sp)
        lw      s4, 8(sp)
        addi    sp, sp, 16
        lw      s2, 0(sp)
        lw      ra, 12(sp)
        lw      s0, 8(sp)
        lw      s1, 4(sp)
        addi    sp, sp, 16
        ret

        .p2align 5
trap:   csrr    s1, mhartid
        la      s0, dojo_guard
        bnez    s1, 1f
        lw      t0, ACTIVE(s0)
        bnez    t0, 1f
        j       dojo_port_reset /* the runner itself failed */
1:      la      s2, dojo_cluster
        li      t1, 1
        addi    t2, s2, CLUSTER_FAULTED
        amoswap.w t0, t1, (t2)
        bnez    t0, 2f
        csrr    t0, mcause
        sw      t0, CAUSE(s0)
        csrr    t0, mepc
        sw      t0, PC(s0)
        csrr    t0, mtval
        sw      t0, ADDRESS(s0)
        sw      s1, HART(s0)
2:      csrr    t0, CSR_SSR
        andi    t0, t0, 1
        beqz    t0, 3f
        /* The FP side may wait for elements for ever: don't touch it. */
        sw      t1, CLUSTER_STUCK(s2)
        j       4f
3:      synchronise
        csrw    FCSR, zero
4:      fence
        beqz    s1, 5f
        csrr    t0, CSR_BARRIER
        lw      t0, CLUSTER_HARTS(s2)
        blt     s1, t0, 6f
        j       dma
6:      j       worker
5:      lw      t0, CLUSTER_INSIDE(s2)
        beqz    t0, faulted
        sw      zero, CLUSTER_INSIDE(s2)
        barrier
faulted:
        li      a0, 2
        j       leave

        .globl  dojo_machine_batch
dojo_machine_batch:
        addi    sp, sp, -64
        sw      ra, 60(sp)
        sw      s0, 56(sp)
        sw      s1, 52(sp)
        sw      s2, 48(sp)
        sw      s3, 44(sp)
        sw      s4, 40(sp)
        sw      s5, 36(sp)
        sw      s6, 32(sp)
        sw      s7, 28(sp)
        sw      s8, 24(sp)
        sw      s9, 20(sp)
        sw      s10, 16(sp)
        sw      s11, 12(sp)
        la      s0, dojo_guard
        la      s1, dojo_cluster
        sw      zero, CLUSTER_FAULTED(s1)
        sw      sp, HOST_SP(s0)
        sw      sp, ACTIVE(s0)
        csrw    FCSR, zero
        /* Once with a section that does nothing, so that only the kernel's own code may be cold. */
        lw      t0, ENTRY(s0)
        lw      t1, LEFT(s0)
        la      t2, warm
        li      t3, 1
        sw      t0, CLUSTER_ENTRY(s1)
        sw      t1, CLUSTER_LEFT(s1)
        sw      t2, ENTRY(s0)
        sw      t3, LEFT(s0)
        sw      t3, CLUSTER_WARMING(s1)
        csrsi   mstatus, MSTATUS_MIE
        .p2align 6
1:      lw      sp, KERNEL_SP(s0)
        addi    a1, s0, START
        jal     t4, read
2:      lw      a0, ARGUMENT(s0)
        lw      t1, ENTRY(s0)
        jalr    t1
        la      s0, dojo_guard
        lw      t1, KERNEL_SP(s0)
        li      a0, 1
        bne     sp, t1, leave
        lw      t1, LEFT(s0)
        addi    t1, t1, -1
        sw      t1, LEFT(s0)
        bnez    t1, 2b
        addi    a1, s0, END
        jal     t4, read
        la      s1, dojo_cluster
        lw      t0, CLUSTER_WARMING(s1)
        lw      t1, CLUSTER_ENTRY(s1)
        lw      t2, CLUSTER_LEFT(s1)
        sw      zero, CLUSTER_WARMING(s1)
        beqz    t0, 3f
        sw      t1, ENTRY(s0)
        sw      t2, LEFT(s0)
        j       1b
3:      csrci   CSR_SSR, 1
        li      a0, 0
leave:  csrci   mstatus, MSTATUS_MIE
        la      s0, dojo_guard
        sw      zero, ACTIVE(s0)
        lw      sp, HOST_SP(s0)
        .option push
        .option norelax
        la      gp, __global_pointer$
        .option pop
        lw      ra, 60(sp)
        lw      s0, 56(sp)
        lw      s1, 52(sp)
        lw      s2, 48(sp)
        lw      s3, 44(sp)
        lw      s4, 40(sp)
        lw      s5, 36(sp)
        lw      s6, 32(sp)
        lw      s7, 28(sp)
        lw      s8, 24(sp)
        lw      s9, 20(sp)
        lw      s10, 16(sp)
        lw      s11, 12(sp)
        addi    sp, sp, 64
        ret

/* The counters to a1, when the FP side has done what it was given; returns to t4. */
        .p2align 5
read:   synchronise
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
        jr      t4

warm:   la      a0, dojo_empty_kernel
        la      t0, dojo_cluster
        lw      a2, CLUSTER_USED(t0)
        j       dojo_parallel_for

        .globl  dojo_empty_kernel
dojo_empty_kernel:
        ret

        .section .note.GNU-stack, "", @progbits
