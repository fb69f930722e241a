/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Calls of foreign code. All state is in the thread's dojo_guard, so that no register but tp and no
 * word of the kernel's stack needs to survive a call. */
        .text

        .equ    HOST_SP, 0
        .equ    KERNEL_SP, 8
        .equ    ENTRY, 16
        .equ    ARGUMENT, 24
        .equ    LEFT, 32
        .equ    START, 40
        .equ    END, 48
        .equ    ACTIVE, 56
        .equ    FRAME, 208

        /* t0: the address of dojo_guard */
        .macro  guard
        lui     t0, %tprel_hi(dojo_guard)
        add     t0, t0, tp, %tprel_add(dojo_guard)
        addi    t0, t0, %tprel_lo(dojo_guard)
        .endm

        .macro  each_saved store, fstore
        \store  ra, 0(sp)
        \store  s0, 8(sp)
        \store  s1, 16(sp)
        \store  s2, 24(sp)
        \store  s3, 32(sp)
        \store  s4, 40(sp)
        \store  s5, 48(sp)
        \store  s6, 56(sp)
        \store  s7, 64(sp)
        \store  s8, 72(sp)
        \store  s9, 80(sp)
        \store  s10, 88(sp)
        \store  s11, 96(sp)
        \fstore fs0, 104(sp)
        \fstore fs1, 112(sp)
        \fstore fs2, 120(sp)
        \fstore fs3, 128(sp)
        \fstore fs4, 136(sp)
        \fstore fs5, 144(sp)
        \fstore fs6, 152(sp)
        \fstore fs7, 160(sp)
        \fstore fs8, 168(sp)
        \fstore fs9, 176(sp)
        \fstore fs10, 184(sp)
        \fstore fs11, 192(sp)
        .endm

        .macro  enter
        addi    sp, sp, -FRAME
        each_saved sd, fsd
        guard
        sd      sp, HOST_SP(t0)
        li      t1, 1
        sd      t1, ACTIVE(t0)
        .endm

        .macro  ticks into
        la      t1, dojo_ticks
        ld      t1, 0(t1)
        jalr    t1
        guard
        sd      a0, \into(t0)
        .endm

        .globl  dojo_machine_batch
        .type   dojo_machine_batch, @function
        .p2align 6
dojo_machine_batch:
        enter
        ticks   START
        ld      sp, KERNEL_SP(t0)
        .p2align 4
1:      guard
        ld      a0, ARGUMENT(t0)
        ld      t1, ENTRY(t0)
        jalr    t1
        guard
        ld      t1, KERNEL_SP(t0)
        ld      t2, LEFT(t0)
        bne     sp, t1, moved
        addi    t2, t2, -1
        sd      t2, LEFT(t0)
        bnez    t2, 1b
        ld      sp, HOST_SP(t0)
        ticks   END
        li      a0, 0
        j       leave
        .size   dojo_machine_batch, .-dojo_machine_batch

        .globl  dojo_machine_protected
        .type   dojo_machine_protected, @function
        .p2align 4
dojo_machine_protected:
        enter
        ld      sp, KERNEL_SP(t0)
        ld      a0, ARGUMENT(t0)
        ld      t1, ENTRY(t0)
        jalr    t1
        guard
        ld      t1, KERNEL_SP(t0)
        bne     sp, t1, moved
        li      a0, 0
        j       leave
        .size   dojo_machine_protected, .-dojo_machine_protected

        .type   moved, @function
moved:
        li      a0, 1
leave:
        guard
        ld      sp, HOST_SP(t0)
        sd      zero, ACTIVE(t0)
        each_saved ld, fld
        addi    sp, sp, FRAME
        ret
        .size   moved, .-moved

        .globl  dojo_machine_escape
        .type   dojo_machine_escape, @function
dojo_machine_escape:
        li      a0, 2
        j       leave
        .size   dojo_machine_escape, .-dojo_machine_escape

        .globl  dojo_empty_kernel
        .type   dojo_empty_kernel, @function
        .p2align 6
dojo_empty_kernel:
        ret
        .size   dojo_empty_kernel, .-dojo_empty_kernel

/* 80 times 64 additions, each waiting for the one before. */
        .globl  dojo_chain_run
        .type   dojo_chain_run, @function
        .p2align 6
dojo_chain_run:
        li      a0, 80
        li      a1, 3
        li      a2, 5
1:      .rept   64
        add     a2, a2, a1
        .endr
        addi    a0, a0, -1
        bnez    a0, 1b
        ret
        .size   dojo_chain_run, .-dojo_chain_run

        .section .note.GNU-stack, "", @progbits
