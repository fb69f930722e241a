/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Start-up, exceptions, and calls of foreign code at EL1. All state of a call is in dojo_guard, so
 * that no register and no word of the kernel's stack needs to survive it. */
        .arch_extension fp

#define HOST_SP 0
#define KERNEL_SP 8
#define ENTRY 16
#define LEFT 32
#define ACTIVE 40
#define CAUSE 48
#define PC 56
#define ADDRESS 64
#define START 80
#define END 96

        .section .text.dojo_start, "ax"
        .globl  dojo_start
dojo_start:
        msr     daifset, #15
        mrs     x0, mpidr_el1
        and     x0, x0, #0xff
1:      cbnz    x0, 1b
        mrs     x0, currentel
        cmp     x0, #8
        b.ne    2f
        /* From EL2 down: nothing is trapped, no second stage. */
        mov     x0, #0x80000000
        msr     hcr_el2, x0
        mov     x0, #3
        msr     cnthctl_el2, x0
        msr     cntvoff_el2, xzr
        mov     x0, #0x32ff
        msr     cptr_el2, x0
        ldr     x0, =0x30d00800
        msr     sctlr_el1, x0
        mov     x0, #0x3c5
        msr     spsr_el2, x0
        adr     x0, 2f
        msr     elr_el2, x0
        eret
2:      ldr     x0, =dojo_stack_top
        mov     sp, x0
        ldr     x0, =dojo_bss
        ldr     x1, =dojo_bss_end
3:      str     xzr, [x0], #8
        cmp     x0, x1
        b.lo    3b
        adr     x0, vectors
        msr     vbar_el1, x0
        isb
        b       dojo_main

        .text
/* All stay with the exception's own registers: the stack pointer may be anything. */
        .macro  vector to
        .p2align 7
        b       \to
        .endm
        .p2align 11
vectors:
        .rept   4               /* with SP_EL0 */
        vector  trap
        .endr
        vector  trap
        vector  interrupt
        vector  trap
        vector  trap
        .rept   8
        vector  trap
        .endr

interrupt:
        mov     x10, #-1
        b       1f
trap:   mrs     x10, esr_el1
1:      adrp    x9, dojo_guard
        add     x9, x9, #:lo12:dojo_guard
        ldr     x11, [x9, #ACTIVE]
        cbz     x11, dojo_start /* the runner itself failed */
        str     x10, [x9, #CAUSE]
        mrs     x10, elr_el1
        str     x10, [x9, #PC]
        mrs     x10, far_el1
        str     x10, [x9, #ADDRESS]
        mov     w0, #2
        b       leave

        .macro  guard
        adrp    x9, dojo_guard
        add     x9, x9, #:lo12:dojo_guard
        .endm

        .globl  dojo_machine_batch
        .p2align 6
dojo_machine_batch:
        sub     sp, sp, #96
        stp     x19, x20, [sp]
        stp     x21, x22, [sp, #16]
        stp     x23, x24, [sp, #32]
        stp     x25, x26, [sp, #48]
        stp     x27, x28, [sp, #64]
        stp     x29, x30, [sp, #80]
        msr     fpcr, xzr
        msr     fpsr, xzr
        guard
        mov     x10, sp
        str     x10, [x9, #HOST_SP]
        str     x10, [x9, #ACTIVE]
        ldr     x10, [x9, #KERNEL_SP]
        mov     sp, x10
        msr     daifclr, #2
        add     x12, x9, #START
        bl      read
1:      ldp     x10, x0, [x9, #ENTRY]
        blr     x10
        guard
        ldr     x10, [x9, #KERNEL_SP]
        mov     x11, sp
        mov     w0, #1
        cmp     x10, x11
        b.ne    leave
        ldr     x10, [x9, #LEFT]
        subs    x10, x10, #1
        str     x10, [x9, #LEFT]
        b.ne    1b
        add     x12, x9, #END
        bl      read
        mov     w0, #0
leave:  msr     daifset, #15
        msr     spsel, #1
        guard
        str     xzr, [x9, #ACTIVE]
        ldr     x10, [x9, #HOST_SP]
        mov     sp, x10
        ldp     x19, x20, [sp]
        ldp     x21, x22, [sp, #16]
        ldp     x23, x24, [sp, #32]
        ldp     x25, x26, [sp, #48]
        ldp     x27, x28, [sp, #64]
        ldp     x29, x30, [sp, #80]
        add     sp, sp, #96
        ret

/* The counters to x12. */
read:   isb
        adrp    x10, dojo_pmu
        ldr     w10, [x10, #:lo12:dojo_pmu]
        cbz     w10, 1f
        mrs     x10, pmccntr_el0
        mrs     x11, pmevcntr0_el0
        stp     x10, x11, [x12]
        ret
1:      mrs     x10, cntvct_el0
        stp     x10, xzr, [x12]
        isb
        ret

        .globl  dojo_empty_kernel
        .p2align 6
dojo_empty_kernel:
        ret
