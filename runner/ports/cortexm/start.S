/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Start-up, exceptions, and calls of foreign code. The runner uses the main stack, foreign code the
 * process stack. All state of a call is in dojo_guard, so that no register and no word of the
 * kernel's stack needs to survive it. */
        .syntax unified
        .thumb

#define HOST_SP 0
#define KERNEL_SP 4
#define ENTRY 8
#define ARGUMENT 12
#define LEFT 16
#define ACTIVE 20
#define CAUSE 24
#define FRAME 36
#define START 40
#define END 56

#define CYCCNT 0xe0001004
#define SYSTICK_VALUE 0xe000e018
#define CPACR 0xe000ed88

        .section .text.dojo_start, "ax"
        .p2align 7
        .globl  dojo_vectors
dojo_vectors:
        .word   dojo_stack_top
        .word   dojo_start
        .rept   9               /* NMI, faults, ..., SVCall */
        .word   trap
        .endr
        .rept   4
        .word   trap
        .endr
        .word   tick

        .globl  dojo_start
        .type   dojo_start, %function
        .thumb_func
dojo_start:
        ldr     r0, =dojo_stack_top
        mov     sp, r0
        ldr     r0, =dojo_bss
        ldr     r1, =dojo_bss_end
        movs    r2, #0
1:      str     r2, [r0], #4
        cmp     r0, r1
        blo     1b
        b       dojo_main

        .text
/* SysTick: counts its rounds; the last one that a CALL may take ends it. */
        .type   tick, %function
        .thumb_func
tick:   ldr     r0, =dojo_rounds
        ldrd    r1, r2, [r0]
        adds    r1, #1
        str     r1, [r0]
        cmp     r1, r2
        blo     1f
        ldr     r0, =dojo_guard
        ldr     r1, [r0, #ACTIVE]
        cbnz    r1, trapped
1:      bx      lr

        .type   trap, %function
        .thumb_func
trap:   ldr     r0, =dojo_guard
        ldr     r1, [r0, #ACTIVE]
        cbnz    r1, trapped
        b       dojo_port_reset /* the runner itself failed */
trapped:
        mrs     r1, ipsr
        str     r1, [r0, #CAUSE]
        mrs     r1, psp
        str     r1, [r0, #FRAME]
        movs    r2, #0
        msr     control, r2     /* privileged again */
        /* Back to the main stack, to `leave`, by a frame made up. */
        ldr     r1, [r0, #HOST_SP]
        subs    r1, #32
        movs    r2, #2
        str     r2, [r1]
        ldr     r2, =leave
        str     r2, [r1, #24]
        mov     r2, #0x01000000
        str     r2, [r1, #28]
        msr     msp, r1
        orr     lr, lr, #0x18
        bic     lr, lr, #4
        bx      lr

        .globl  dojo_machine_batch
        .type   dojo_machine_batch, %function
        .thumb_func
dojo_machine_batch:
        push    {r3-r11, lr}
        ldr     r4, =dojo_guard
        mov     r0, sp
        str     r0, [r4, #HOST_SP]
        str     r0, [r4, #ACTIVE]
        ldr     r0, [r4, #KERNEL_SP]
        msr     psp, r0
        movs    r0, #2
        msr     control, r0
        isb
        ldr     r0, =CPACR
        ldr     r0, [r0]
        tst     r0, #0x300000
        beq     1f
        mov     r0, #0x40000    /* no predicated tail */
        .inst.w 0xeee10a10      /* vmsr fpscr, r0 */
1:      cpsie   i
        cpsie   f
        add     r1, r4, #START
        bl      read
2:      ldrd    r1, r0, [r4, #ENTRY]
        blx     r1
        ldr     r4, =dojo_guard
        ldr     r1, [r4, #KERNEL_SP]
        movs    r0, #1
        cmp     sp, r1
        bne     leave
        ldr     r1, [r4, #LEFT]
        subs    r1, #1
        str     r1, [r4, #LEFT]
        bne     2b
        add     r1, r4, #END
        bl      read
        movs    r0, #0
        .type   leave, %function
        .thumb_func
leave:  movs    r1, #0
        msr     control, r1
        isb
        ldr     r4, =dojo_guard
        str     r1, [r4, #ACTIVE]
        ldr     r1, [r4, #HOST_SP]
        mov     sp, r1
        cpsie   i
        cpsie   f
        pop     {r3-r11, pc}

/* CYCCNT, and SysTick's value and rounds, to r1. */
        .type   read, %function
        .thumb_func
read:   ldr     r2, =dojo_rounds
        ldr     r5, =SYSTICK_VALUE
1:      ldr     r3, [r2]
        ldr     r6, [r5]
        ldr     r7, [r2]
        cmp     r3, r7
        bne     1b
        ldr     r7, =dojo_cyccnt
        ldr     r7, [r7]
        ldr     r7, [r7]
        str     r7, [r1]
        strd    r6, r3, [r1, #8]
        bx      lr

        .globl  dojo_empty_kernel
        .type   dojo_empty_kernel, %function
        .thumb_func
dojo_empty_kernel:
        bx      lr
