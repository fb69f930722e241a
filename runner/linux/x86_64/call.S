/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Calls of foreign code. All state is in the thread's dojo_guard, so that no register and no word of
 * the kernel's stack needs to survive a call. */
        .text

#define GUARD(offset) %fs:dojo_guard@tpoff+offset
#define HOST_SP GUARD(0)
#define KERNEL_SP GUARD(8)
#define ENTRY GUARD(16)
#define ARGUMENT GUARD(24)
#define LEFT GUARD(32)
#define START GUARD(40)
#define END GUARD(48)
#define ACTIVE GUARD(56)

        .macro enter
        pushq   %rbx
        pushq   %rbp
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        movq    %rsp, HOST_SP
        movq    $1, ACTIVE
        movq    KERNEL_SP, %rsp
        .endm

        .globl  dojo_machine_batch
        .type   dojo_machine_batch, @function
        .p2align 6
dojo_machine_batch:
        enter
        lfence
        rdtsc
        lfence
        shlq    $32, %rdx
        orq     %rdx, %rax
        movq    %rax, START
        .p2align 5
1:      movq    ARGUMENT, %rdi
        callq   *ENTRY
        cmpq    KERNEL_SP, %rsp
        jne     moved
        decq    LEFT
        jnz     1b
        rdtscp
        lfence
        shlq    $32, %rdx
        orq     %rdx, %rax
        movq    %rax, END
        xorl    %eax, %eax
        jmp     leave
        .size   dojo_machine_batch, .-dojo_machine_batch

        .globl  dojo_machine_protected
        .type   dojo_machine_protected, @function
        .p2align 4
dojo_machine_protected:
        enter
        movq    ARGUMENT, %rdi
        callq   *ENTRY
        cmpq    KERNEL_SP, %rsp
        jne     moved
        xorl    %eax, %eax
        jmp     leave
        .size   dojo_machine_protected, .-dojo_machine_protected

        .type   moved, @function
moved:
        movl    $1, %eax
leave:
        movq    HOST_SP, %rsp
        movq    $0, ACTIVE
        cld
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbp
        popq    %rbx
        ret
        .size   moved, .-moved

        .globl  dojo_machine_escape
        .type   dojo_machine_escape, @function
dojo_machine_escape:
        movl    $2, %eax
        jmp     leave
        .size   dojo_machine_escape, .-dojo_machine_escape

        .globl  dojo_empty_kernel
        .type   dojo_empty_kernel, @function
        .p2align 6
dojo_empty_kernel:
        ret
        .size   dojo_empty_kernel, .-dojo_empty_kernel

/* 320 times 16 multiplications, each waiting for the one before. */
        .globl  dojo_machine_chain
        .type   dojo_machine_chain, @function
        .p2align 6
dojo_machine_chain:
        movl    $320, %ecx
        movl    $3, %esi
        lfence
        rdtsc
        lfence
        shlq    $32, %rdx
        leaq    (%rdx,%rax), %r8
        movl    $5, %eax
        .p2align 5
1:      .rept   16
        imulq   %rsi, %rax
        .endr
        decl    %ecx
        jnz     1b
        rdtscp
        lfence
        shlq    $32, %rdx
        orq     %rdx, %rax
        subq    %r8, %rax
        ret
        .size   dojo_machine_chain, .-dojo_machine_chain

        .section .note.GNU-stack, "", @progbits
