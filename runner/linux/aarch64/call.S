/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Calls of foreign code. All state is in the thread's dojo_guard, so that no register and no word of
 * the kernel's stack needs to survive a call. */
        .text

        .equ    HOST_SP, 0
        .equ    KERNEL_SP, 8
        .equ    ENTRY, 16
        .equ    ARGUMENT, 24
        .equ    LEFT, 32
        .equ    START, 40
        .equ    END, 48
        .equ    ACTIVE, 56

        /* x9: the address of dojo_guard */
        .macro  guard
        mrs     x9, tpidr_el0
        add     x9, x9, #:tprel_hi12:dojo_guard
        add     x9, x9, #:tprel_lo12_nc:dojo_guard
        .endm

        .macro  enter
        sub     sp, sp, #160
        stp     x19, x20, [sp]
        stp     x21, x22, [sp, #16]
        stp     x23, x24, [sp, #32]
        stp     x25, x26, [sp, #48]
        stp     x27, x28, [sp, #64]
        stp     x29, x30, [sp, #80]
        stp     d8, d9, [sp, #96]
        stp     d10, d11, [sp, #112]
        stp     d12, d13, [sp, #128]
        stp     d14, d15, [sp, #144]
        guard
        mov     x10, sp
        str     x10, [x9, #HOST_SP]
        mov     x10, #1
        str     x10, [x9, #ACTIVE]
        .endm

        .macro  ticks into
        adrp    x10, dojo_ticks
        ldr     x10, [x10, #:lo12:dojo_ticks]
        blr     x10
        guard
        str     x0, [x9, #\into]
        .endm

        .macro  use stack
        ldr     x10, [x9, #\stack]
        mov     sp, x10
        .endm

        .globl  dojo_machine_batch
        .type   dojo_machine_batch, %function
        .p2align 6
dojo_machine_batch:
        enter
        ticks   START
        use     KERNEL_SP
        .p2align 4
1:      guard
        ldp     x10, x0, [x9, #ENTRY]
        blr     x10
        guard
        ldr     x10, [x9, #KERNEL_SP]
        mov     x11, sp
        cmp     x10, x11
        b.ne    moved
        ldr     x10, [x9, #LEFT]
        subs    x10, x10, #1
        str     x10, [x9, #LEFT]
        b.ne    1b
        use     HOST_SP
        ticks   END
        mov     w0, #0
        b       leave
        .size   dojo_machine_batch, .-dojo_machine_batch

        .globl  dojo_machine_protected
        .type   dojo_machine_protected, %function
        .p2align 4
dojo_machine_protected:
        enter
        use     KERNEL_SP
        ldp     x10, x0, [x9, #ENTRY]
        blr     x10
        guard
        ldr     x10, [x9, #KERNEL_SP]
        mov     x11, sp
        cmp     x10, x11
        b.ne    moved
        mov     w0, #0
        b       leave
        .size   dojo_machine_protected, .-dojo_machine_protected

        .type   moved, %function
moved:
        mov     w0, #1
leave:
        guard
        use     HOST_SP
        str     xzr, [x9, #ACTIVE]
        ldp     x19, x20, [sp]
        ldp     x21, x22, [sp, #16]
        ldp     x23, x24, [sp, #32]
        ldp     x25, x26, [sp, #48]
        ldp     x27, x28, [sp, #64]
        ldp     x29, x30, [sp, #80]
        ldp     d8, d9, [sp, #96]
        ldp     d10, d11, [sp, #112]
        ldp     d12, d13, [sp, #128]
        ldp     d14, d15, [sp, #144]
        add     sp, sp, #160
        ret
        .size   moved, .-moved

        .globl  dojo_machine_escape
        .type   dojo_machine_escape, %function
dojo_machine_escape:
        mov     w0, #2
        b       leave
        .size   dojo_machine_escape, .-dojo_machine_escape

        .globl  dojo_empty_kernel
        .type   dojo_empty_kernel, %function
        .p2align 6
dojo_empty_kernel:
        ret
        .size   dojo_empty_kernel, .-dojo_empty_kernel

/* 80 times 64 additions, each waiting for the one before. */
        .globl  dojo_chain_run
        .type   dojo_chain_run, %function
        .p2align 6
dojo_chain_run:
        mov     x0, #80
        mov     x1, #3
        mov     x2, #5
1:      .rept   64
        add     x2, x2, x1
        .endr
        subs    x0, x0, #1
        b.ne    1b
        ret
        .size   dojo_chain_run, .-dojo_chain_run

        .section .note.GNU-stack, "", %progbits
