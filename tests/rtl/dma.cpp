// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The DMA engine of the cluster: what it moves, between which memories, how long that takes, and
// what its hart sees of it.
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "cluster.h"

namespace {

using rtl::hex;
using rtl::Lines;

/// On the cluster with one compute core, `body` on the DMA hart. t0 = results, and a compute hart
/// that waits at the barrier meanwhile.
Lines onDmaHart(const std::string& body, int words, const rtl::Machine& machine = rtl::snitch()) {
  return rtl::runCluster(
      "  la t0, results\n  beqz a0, 7f\n" + body + "\n7:fence\n  barrier\n  ret\n", words, machine);
}

struct Transfer {
  std::uint32_t source = 0, destination = 0, bytes = 0;
  std::uint32_t rows = 1, sourceStride = 0, destinationStride = 0;
};

std::string set(const char* reg, std::uint32_t value) {
  return std::string("  li ") + reg + ", " + std::to_string(static_cast<std::int32_t>(value)) +
         "\n";
}

std::string start(const Transfer& transfer) {
  return set("t1", transfer.source) + "  dmsrc t1\n" + set("t1", transfer.destination) +
         "  dmdst t1\n" + set("t1", transfer.sourceStride) + set("t2", transfer.destinationStride) +
         "  dmstr t1, t2\n" + set("t1", transfer.rows) + "  dmrep t1\n" +
         set("t1", transfer.bytes) + "  dmcpyi t2, t1, " + (transfer.rows == 1 ? "0" : "2") + "\n";
}

/// Fills `bytes` from `at` on with numbers that differ.
std::string fill(std::uint32_t at, std::uint32_t bytes) {
  return set("a1", at) + set("a2", bytes) +
         "  li a3, 0x9e3779b1\n  li a4, 12345\n0:mul a4, a4, a3\n  addi a4, a4, 77\n"
         "  sw a4, 0(a1)\n  addi a1, a1, 4\n  addi a2, a2, -4\n  bgtz a2, 0b\n  fence\n";
}

/// Adds to the word at t0 how many bytes of a transfer aren't where they belong.
std::string verify(const Transfer& transfer) {
  return set("a1", transfer.source) + set("a2", transfer.destination) + set("a3", transfer.rows) +
         "  lw a6, 0(t0)\n1:mv t3, a1\n  mv t4, a2\n" + set("a4", transfer.bytes) +
         "0:lbu t5, 0(t3)\n  lbu t6, 0(t4)\n  beq t5, t6, 2f\n  addi a6, a6, 1\n"
         "2:addi t3, t3, 1\n  addi t4, t4, 1\n  addi a4, a4, -1\n  bnez a4, 0b\n" +
         set("a4", transfer.sourceStride) + "  add a1, a1, a4\n" +
         set("a4", transfer.destinationStride) +
         "  add a2, a2, a4\n  addi a3, a3, -1\n  bnez a3, 1b\n  sw a6, 0(t0)\n";
}

constexpr std::uint32_t kTcdm = 0x10000000;
constexpr std::uint32_t kDram = 0x80200000;

}  // namespace

TEST_CASE("transfers of any length and alignment arrive, between all memories, and nothing else") {
  if (!rtl::have(DOJO_CLANG)) return;
  std::mt19937 random(7);
  const auto below = [&random](std::uint32_t n) {
    return static_cast<std::uint32_t>(random() % n);
  };
  std::string body = fill(kTcdm, 8192) + fill(kDram, 8192) + "  sw x0, 0(t0)\n";
  for (int i = 0; i < 40; ++i) {
    Transfer transfer;
    transfer.bytes = 1 + (i % 3 == 0 ? below(16) : below(700));
    transfer.source = (i & 1 ? kTcdm : kDram) + below(128);
    transfer.destination = (i & 2 ? kTcdm : kDram) + 0x4000 + below(128);
    if (i % 4 == 3) {
      transfer.rows = 1 + below(8);
      transfer.sourceStride = below(800);
      transfer.destinationStride = transfer.bytes + below(70);
    }
    body += start(transfer) + "  dmwait t1\n" + verify(transfer);
  }
  CHECK(onDmaHart(body, 1) == Lines{hex(0)});
  CHECK(onDmaHart(body, 1, rtl::checked()) == Lines{hex(0)});
  // The bytes around a row stay.
  const std::string around = fill(kTcdm, 256) + set("a5", kTcdm) +
                             "  sw x0, 0x400(a5)\n  sw x0, 0x404(a5)\n  sw x0, 0x408(a5)\n" +
                             start({kTcdm, kTcdm + 0x403, 3}) + "  dmwait t1\n" +
                             "  lw t1, 0(a5)\n  lw a1, 0x400(a5)\n  lw a2, 0x404(a5)\n"
                             "  slli a3, t1, 24\n  xor a1, a1, a3\n  sw a1, 0(t0)\n"
                             "  slli t1, t1, 8\n  srli t1, t1, 16\n  xor a2, a2, t1\n"
                             "  sw a2, 4(t0)\n";
  CHECK(onDmaHart(around, 2) == Lines{hex(0), hex(0)});
}

TEST_CASE(
    "a transfer of no rows or no bytes ends; the zero memory clears; strides of zero repeat") {
  if (!rtl::have(DOJO_CLANG)) return;
  const std::string body =
      set("a5", kTcdm) + "  li t1, 5\n  sw t1, 0(a5)\n  sw t1, 64(a5)\n  sw t1, 68(a5)\n" +
      start({kDram, kTcdm, 0}) + "  dmwait t1\n" + start({kDram, kTcdm, 64, 0, 0, 0}) +
      "  dmwait t1\n" + start({0x10030000, kTcdm + 64, 4}) + "  dmwait t1\n" +
      start({kTcdm, kTcdm + 256, 4, 3, 0, 4}) + "  dmwait t1\n" +
      "  lw t1, 0(a5)\n  sw t1, 0(t0)\n  lw t1, 64(a5)\n  sw t1, 4(t0)\n"
      "  lw t1, 68(a5)\n  sw t1, 8(t0)\n  lw t1, 256(a5)\n  sw t1, 12(t0)\n"
      "  lw t1, 264(a5)\n  sw t1, 16(t0)\n";
  CHECK(onDmaHart(body, 5) == Lines{hex(5), hex(0), hex(5), hex(5), hex(5)});
}

TEST_CASE("transfers have numbers, and the engine says which is done and whether more fit") {
  if (!rtl::have(DOJO_CLANG)) return;
  // Thirty of 4 KiB one after another: more than can wait, so that the last ones hold up their
  // hart.
  std::string body =
      "  li a1, 4096\n  li t1, 0x80200000\n  dmsrc t1\n  li t1, 0x10000000\n"
      "  dmdst t1\n  dmcpyi a2, a1, 0\n  sw a2, 0(t0)\n";
  for (int i = 0; i < 28; ++i) body += "  dmcpyi a2, a1, 0\n";
  body +=
      "  dmcpy a2, a1, x0\n  sw a2, 4(t0)\n  li a3, 3\n  dmstat a4, a3\n  sw a4, 8(t0)\n"
      "  dmstati a4, 2\n  sw a4, 12(t0)\n  dmstati a4, 1\n  sw a4, 16(t0)\n"
      "0:dmstati a4, 0\n  bltu a4, a2, 0b\n  sw a4, 20(t0)\n  dmstati a4, 2\n"
      "  sw a4, 24(t0)\n  dmstati a4, 3\n  sw a4, 28(t0)\n";
  CHECK(onDmaHart(body, 8) ==
        Lines{hex(1), hex(30), hex(1), hex(1), hex(31), hex(30), hex(0), hex(0)});
}

TEST_CASE("a transfer takes the cycles of the public cluster") {
  if (!rtl::have(DOJO_CLANG)) return;
  std::string body = "  li a5, 0x80200000\n  li a6, 0x10000000\n";
  int at = 0;
  for (const int bytes : {64, 1024, 4096, 16384}) {
    body += "  li s1, 3\n  li a2, " + std::to_string(bytes) +
            "\n1:csrr a3, mcycle\n  dmsrc a5\n  dmdst a6\n  dmcpyi t2, a2, 0\n  dmwait t1\n"
            "  csrr a4, mcycle\n  addi s1, s1, -1\n  bnez s1, 1b\n  sub a4, a4, a3\n  sw a4, " +
            std::to_string(at) + "(t0)\n";
    at += 4;
  }
  CHECK(onDmaHart(body, 4) == Lines{hex(24), hex(39), hex(84), hex(279)});
}

TEST_CASE("transfers and loads share the banks, and each comes to its end") {
  if (!rtl::have(DOJO_CLANG)) return;
  // Hart 0 loads from one bank while 16 KiB come in: a transfer touches each bank every fourth
  // cycle, so that the loads are held up but a little, and the transfer not at all.
  const Lines seen = rtl::runCluster(R"(
    la t0, results
    li s1, 2
    bnez a0, 2f
    li t2, 0x10008000
  1:barrier
    csrr t3, mcycle
    .rept 100
    lw t4, 0(t2)
    lw t5, 0(t2)
    lw t6, 0(t2)
    lw a1, 0(t2)
    .endr
    csrr t4, mcycle
    addi s1, s1, -1
    bnez s1, 1b
    sub t4, t4, t3
    sw t4, 0(t0)
    barrier
    ret
  2:li a5, 0x80200000
    li a6, 0x10000000
    li a2, 16384
  1:barrier
    csrr a3, mcycle
    dmsrc a5
    dmdst a6
    dmcpyi t2, a2, 0
    dmwait t1
    csrr a4, mcycle
    addi s1, s1, -1
    bnez s1, 1b
    sub a4, a4, a3
    sw a4, 4(t0)
    fence
    barrier
    ret)",
                                     2, rtl::snitch());
  REQUIRE(seen.size() == 2);
  const int loads = std::stoi(seen[0], nullptr, 16);
  CHECK(loads >= 400);
  CHECK(loads <= 400 + 150);
  CHECK(std::stoi(seen[1], nullptr, 16) <= 279 + 5);
}
