# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Start and end of every test program: calls test() and ends with what it returns, on the model
# through tohost, on QEMU's machine "virt" through its test device. Prints on a 16550 at UART.
# Harts other than 0 run other_hart() with their number; without one they wait for ever.
  .equ QEMU_TEST, 0x100000

  .section .init, "ax"
  .globl _start
_start:
  csrr a0, mhartid
  beqz a0, 1f
  j other_hart
  .weak other_hart
other_hart:
  wfi
  j other_hart
1:la sp, stack_top
  li t0, 0x2000          # floating point: initial
  csrs mstatus, t0
  csrw fcsr, zero
  call test
  .globl finish
finish:                  # with status a0
  la t0, 2f              # neither has the other's way to end
  csrw mtvec, t0
  slli t0, a0, 1
  ori t0, t0, 1
  la t1, tohost
  sw t0, 0(t1)
  slli t0, a0, 16
  li t1, 0x3333
  or t0, t0, t1
  bnez a0, 1f
  li t0, 0x5555
1:li t1, QEMU_TEST
  sw t0, 0(t1)
  .balign 4
2:j 2b

  .text
  .globl put             # a0: a character
put:
  li t0, UART
1:lbu t1, 5(t0)
  andi t1, t1, 0x20
  beqz t1, 1b
  sb a0, 0(t0)
  ret

  .globl print_word      # a0, as eight digits and a line end
print_word:
  addi sp, sp, -16
  sw ra, 12(sp)
  sw s1, 8(sp)
  sw s2, 4(sp)
  mv s1, a0
  li s2, 8
1:srli a0, s1, 28
  slli s1, s1, 4
  addi a0, a0, 48
  li t0, 58
  blt a0, t0, 2f
  addi a0, a0, 39
2:call put
  addi s2, s2, -1
  bnez s2, 1b
  li a0, 10
  call put
  lw ra, 12(sp)
  lw s1, 8(sp)
  lw s2, 4(sp)
  addi sp, sp, 16
  ret

  .globl print_words     # from a0 to a1
print_words:
  addi sp, sp, -16
  sw ra, 12(sp)
  sw s1, 8(sp)
  sw s2, 4(sp)
  mv s1, a0
  mv s2, a1
1:bgeu s1, s2, 2f
  lw a0, 0(s1)
  call print_word
  addi s1, s1, 4
  j 1b
2:lw ra, 12(sp)
  lw s1, 8(sp)
  lw s2, 4(sp)
  addi sp, sp, 16
  ret

  .data
  .globl tohost
  .balign 8
tohost: .dword 0
