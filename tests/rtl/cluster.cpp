// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the harts of a Snitch cluster share: scratchpad, atomics, barrier, interrupts, registers.
// Hart 0 prints the words from `results` on; what all harts do is in `all`, called with the hart's
// number in a0.
#include "cluster.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "fp_side.h"

namespace {

using rtl::Lines;
using rtl::runCluster;

}  // namespace

TEST_CASE(
    "all harts come out of the boot ROM, and the barrier holds them until the last has come") {
  if (!rtl::have(DOJO_CLANG)) return;
  // Each adds one behind the barrier only when all have added one before it.
  CHECK(runCluster(R"(
    la t0, results
    li t1, 1
    amoadd.w x0, t1, (t0)
    # The later the higher the number.
    slli t2, a0, 6
  1:addi t2, t2, -1
    bgez t2, 1b
    barrier
    lw t3, 0(t0)
    li t4, 9
    bne t3, t4, 2f
    addi t5, t0, 4
    amoadd.w x0, t1, (t5)
  2:barrier
    bnez a0, 3f
    csrr t1, mcycle
    csrr t2, mcycle
    sub t2, t2, t1
    sw t2, 8(t0)
  3:ret)",
                   3) == Lines{"00000009", "00000009", "00000001"});
}

TEST_CASE("the barrier takes three cycles when all have arrived") {
  if (!rtl::have(DOJO_CLANG)) return;
  CHECK(runCluster(R"(
    li s1, 3        # the last round is warm
  1:li t1, 200
    beqz a0, 4f
    li t1, 1
  4:addi t1, t1, -1
    bnez t1, 4b
    csrr t1, mcycle
    barrier
    csrr t2, mcycle
    addi s1, s1, -1
    bnez s1, 1b
    sub t2, t2, t1
    bnez a0, 2f
    la t0, results
    sw t2, 0(t0)
  2:ret)",
                   1) == Lines{"00000003"});
}

TEST_CASE("atomics of all harts on one word lose nothing, in the scratchpad and in DRAM") {
  if (!rtl::have(DOJO_CLANG)) return;
  const std::string program = R"(
    la t0, results
    li t1, 100
    li t2, PLACE
    beqz a0, 4f
    j 5f
  4:sw x0, 0(t2)
    sw x0, 8(t2)
    li t3, -1
    sw t3, 16(t2)
    sw x0, 24(t2)
    fence
  5:barrier
    addi t4, a0, 1
    addi t5, t2, 8
    addi t6, t2, 16
    addi a5, t2, 24
  1:amoadd.w x0, t4, (t2)
  2:lr.w a1, (t5)
    add a1, a1, t4
    sc.w a2, a1, (t5)
    bnez a2, 2b
    amominu.w x0, t1, (t6)
    amomax.w x0, t1, (a5)
    addi t1, t1, -1
    bnez t1, 1b
    fence
    barrier
    bnez a0, 3f
    lw a1, 0(t2)
    sw a1, 0(t0)
    lw a1, 8(t2)
    sw a1, 4(t0)
    lw a1, 16(t2)
    sw a1, 8(t0)
    lw a1, 24(t2)
    sw a1, 12(t0)
  3:ret)";
  const Lines sums = {rtl::hex(4500), rtl::hex(4500), rtl::hex(1), rtl::hex(100)};
  CHECK(runCluster(".equ PLACE, 0x10000100\n" + program, 4) == sums);
  CHECK(runCluster(".equ PLACE, 0x80200100\n" + program, 4) == sums);
}

TEST_CASE("no assertion breaks while both ways to memory, streams and loops are at work") {
  if (!rtl::have(DOJO_CLANG)) return;
  // Both harts load and store everywhere; hart 0 sums 64 elements of two streams meanwhile.
  CHECK(runCluster(R"(
    la t0, results
    li a1, 0x10001000
    li a2, 0x10002000
    bnez a0, 2f
    )" + rtl::configure(0, rtl::kBound, 63) +
                       rtl::configure(1, rtl::kBound, 63) + rtl::configure(0, rtl::kStride, 8) +
                       rtl::configure(1, rtl::kStride, 8) + R"(
    li t1, 64
    li t2, 3
    fcvt.d.w fa1, t2
    fcvt.d.w fa0, x0
  1:fsd fa1, 0(a1)
    fsd fa1, 0(a2)
    addi a1, a1, 8
    addi a2, a2, 8
    addi t1, t1, -1
    bnez t1, 1b
    addi a1, a1, -512
    addi a2, a2, -512
    fmv.x.w t6, fa1
    mv t6, t6
    )" + rtl::scfgwi(0, rtl::kRead, 11) +
                       rtl::scfgwi(1, rtl::kRead, 12) + rtl::kStreamsOn + "    li t1, 63\n" +
                       rtl::frep(6, 1) +
                       R"(
    fmadd.d fa0, ft0, ft1, fa0
    )" + rtl::kStreamsOff +
                       R"(
  2:li t1, 50
    slli a3, a0, 3
    li a4, 0x10003000
    add a3, a3, a4
    li a5, 0x80300000
  3:sw t1, 0(a3)
    lw t2, 0(a3)
    lw t3, 0(a5)
    amoadd.w x0, t2, (a4)
    lw t4, 0(a4)
    lw t5, 4(a5)
    addi t1, t1, -1
    bnez t1, 3b
    bnez a0, 4f
    fcvt.w.d t1, fa0
    sw t1, 0(t0)
  4:fence
    barrier
    ret)",
                   1, rtl::checked()) == Lines{rtl::hex(64 * 9)});
}

TEST_CASE("a store of another hart takes a reservation away, its own doesn't") {
  if (!rtl::have(DOJO_CLANG)) return;
  CHECK(runCluster(R"(
    la t0, results
    li t1, 0x10000200
    li t3, 5
    bnez a0, 1f
    lr.w t2, (t1)
  1:fence
    barrier
    li t4, 1
    bne a0, t4, 2f
    sw t3, 4(t1)        # the other half of the double word
  2:fence
    barrier
    bnez a0, 3f
    sc.w t2, t3, (t1)
    sw t2, 0(t0)
    lr.w t2, (t1)
    sw t3, 0(t1)
    sc.w t2, t3, (t1)
    sw t2, 4(t0)
    sc.w t2, t3, (t1)   # there is none any more
    sw t2, 8(t0)
  3:ret)",
                   3) == Lines{"00000001", "00000000", "00000001"});
}

TEST_CASE("who asks for one bank at once gets it in turn") {
  if (!rtl::have(DOJO_CLANG)) return;
  // 32 loads of each of eight harts from one bank: 256 cycles for all, and about as much for each.
  // From banks of their own nobody waits for another.
  const std::string program = R"(
    la t0, results
    li t5, 8
    beq a0, t5, 3f
    slli t1, a0, SHIFT
    li t2, 0x10000000
    add t1, t1, t2
    li s1, 3
  1:csrr x0, 0x7c2
    csrr t3, mcycle
    .rept 32
    lw t4, 0(t1)
    lw t6, 0(t1)
    .endr
    csrr t4, mcycle
    addi s1, s1, -1
    bnez s1, 1b
    sub t4, t4, t3
    slli t1, a0, 2
    add t1, t1, t0
    sw t4, 0(t1)
    ret
  3:barrier
    barrier
    barrier
    ret)";
  const auto cycles = [&program](const char* shift) {
    std::vector<int> out;
    for (const std::string& line :
         runCluster(".equ SHIFT, " + std::string(shift) + "\n" + program, 8)) {
      out.push_back(std::stoi(line, nullptr, 16));
    }
    REQUIRE(out.size() == 8);
    return out;
  };
  for (const int each : cycles("8")) {
    CHECK(each >= 8 * 62);
    CHECK(each <= 8 * 64 + 8);
  }
  for (const int each : cycles("3")) CHECK(each <= 64 * 2 + 4);
}

TEST_CASE(
    "scratch registers keep values, cluster interrupts come and go, software interrupts too") {
  if (!rtl::have(DOJO_CLANG)) return;
  CHECK(runCluster(R"(
    la t0, results
    bnez a0, 1f
    li t1, PERIPHERALS
    li t2, 0x12345678
    sw t2, 0x190(t1)
    lw t2, 0x190(t1)
    sw t2, 0(t0)
    li t3, 0x1ff        # those that began the program
    sw t3, 0x1a8(t1)
    lw t4, 0x1a8(t1)    # the answer: it has arrived
    csrr t2, mip
    sw t2, 4(t0)
    li t3, 1
    sw t3, 0x1a0(t1)
    lw t4, 0x1a0(t1)
    csrr t2, mip
    sw t2, 8(t0)
    sw t3, 0x1a8(t1)
    li t5, 0xffff0000
    li t3, 0x101
    sw t3, 0(t5)
    lw t4, 0(t5)
    sw t4, 12(t0)
    csrr t2, mip
    sw t2, 16(t0)
    sw x0, 0(t5)
    lw t4, 0(t5)
    csrr t2, mip
    sw t2, 20(t0)
  1:ret)",
                   6) ==
        Lines{"12345678", "00000000", "00080000", "00000101", "00000008", "00000000"});
}

TEST_CASE("performance counters count what they are told to") {
  if (!rtl::have(DOJO_CLANG)) return;
  const Lines seen = runCluster(R"(
    la t0, results
    bnez a0, 1f
    li t1, PERIPHERALS
    li t2, 0x60000      # retired instructions of hart 0
    sw t2, 0x80(t1)
    li t2, 0x10000      # accesses to the scratchpad
    sw t2, 0x88(t1)
    li t2, 0            # cycles
    sw t2, 0x90(t1)
    li t3, TCDM
    sw x0, 0x100(t1)
    sw x0, 0x108(t1)
    sw x0, 0x110(t1)
    fence
    .rept 10
    lw t4, 0(t3)
    .endr
    fence
    lw t4, 0x108(t1)
    lw t5, 0x100(t1)
    lw t6, 0x110(t1)
    sw t4, 0(t0)
    sw t5, 4(t0)
    sw t6, 8(t0)
  1:barrier
    ret)",
                                3);
  REQUIRE(seen.size() == 3);
  CHECK(seen[0] == "0000000a");
  CHECK(std::stoi(seen[1], nullptr, 16) >= 12);
  CHECK(std::stoi(seen[1], nullptr, 16) <= 20);
  CHECK(std::stoi(seen[2], nullptr, 16) >= 20);
}

TEST_CASE("where nothing is, an access fails, and the zero memory is zero") {
  if (!rtl::have(DOJO_CLANG)) return;
  CHECK(runCluster(R"(
    la t0, results
    bnez a0, 1f
    li t1, ZERO
    li t2, 7
    sw t2, 0(t1)
    lw t2, 0(t1)
    sw t2, 0(t0)
    la t3, 2f
    csrw mtvec, t3
    li t1, 0x40000000
    lw t2, 0(t1)
    j 1f
    .balign 4
  2:csrr t2, mcause
    sw t2, 4(t0)
    csrr t2, mtval
    sw t2, 8(t0)
  1:ret)",
                   3) == Lines{"00000000", "00000005", "40000000"});
}
