/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Calls of foreign code. All state is in the thread's dojo_guard, so that no register and no word of
 * the kernel's stack needs to survive a call. */
        .syntax unified
        .arch   armv7-a
        .fpu    vfpv3-d16
        .arm
        .text

        .equ    HOST_SP, 0
        .equ    KERNEL_SP, 4
        .equ    ENTRY, 8
        .equ    ARGUMENT, 12
        .equ    LEFT, 16
        .equ    START, 24
        .equ    END, 32
        .equ    ACTIVE, 40

        /* r12: the address of dojo_guard */
        .macro  guard
        mrc     p15, 0, r12, c13, c0, 3
        ldr     r3, guard_offset
        add     r12, r12, r3
        .endm

        .macro  enter
        push    {r4-r11, lr}
        sub     sp, sp, #4
        vpush   {d8-d15}
        guard
        str     sp, [r12, #HOST_SP]
        mov     r3, #1
        str     r3, [r12, #ACTIVE]
        .endm

        .macro  ticks into
        movw    r3, #:lower16:dojo_ticks
        movt    r3, #:upper16:dojo_ticks
        ldr     r3, [r3]
        blx     r3
        guard
        strd    r0, r1, [r12, #\into]
        .endm

        .globl  dojo_machine_batch
        .type   dojo_machine_batch, %function
        .p2align 6
dojo_machine_batch:
        enter
        ticks   START
        ldr     sp, [r12, #KERNEL_SP]
        .p2align 4
1:      guard
        ldr     r0, [r12, #ARGUMENT]
        ldr     r3, [r12, #ENTRY]
        blx     r3
        guard
        ldr     r3, [r12, #KERNEL_SP]
        cmp     sp, r3
        bne     moved
        ldr     r3, [r12, #LEFT]
        subs    r3, r3, #1
        str     r3, [r12, #LEFT]
        bne     1b
        ldr     sp, [r12, #HOST_SP]
        ticks   END
        mov     r0, #0
        b       leave
        .size   dojo_machine_batch, .-dojo_machine_batch

        .globl  dojo_machine_protected
        .type   dojo_machine_protected, %function
        .p2align 4
dojo_machine_protected:
        enter
        ldr     sp, [r12, #KERNEL_SP]
        ldr     r0, [r12, #ARGUMENT]
        ldr     r3, [r12, #ENTRY]
        blx     r3
        guard
        ldr     r3, [r12, #KERNEL_SP]
        cmp     sp, r3
        bne     moved
        mov     r0, #0
        b       leave
        .size   dojo_machine_protected, .-dojo_machine_protected

        .type   moved, %function
moved:
        mov     r0, #1
leave:
        guard
        ldr     sp, [r12, #HOST_SP]
        mov     r3, #0
        str     r3, [r12, #ACTIVE]
        vpop    {d8-d15}
        add     sp, sp, #4
        pop     {r4-r11, pc}
        .size   moved, .-moved

        .p2align 2
guard_offset:
        .word   dojo_guard(tpoff)

        .globl  dojo_machine_escape
        .type   dojo_machine_escape, %function
dojo_machine_escape:
        mov     r0, #2
        b       leave
        .size   dojo_machine_escape, .-dojo_machine_escape

        .globl  dojo_empty_kernel
        .type   dojo_empty_kernel, %function
        .p2align 6
dojo_empty_kernel:
        bx      lr
        .size   dojo_empty_kernel, .-dojo_empty_kernel

/* 80 times 64 additions, each waiting for the one before. */
        .globl  dojo_chain_run
        .type   dojo_chain_run, %function
        .p2align 6
dojo_chain_run:
        mov     r0, #80
        mov     r1, #3
        mov     r2, #5
1:      .rept   64
        add     r2, r2, r1
        .endr
        subs    r0, r0, #1
        bne     1b
        bx      lr
        .size   dojo_chain_run, .-dojo_chain_run

        .section .note.GNU-stack, "", %progbits
