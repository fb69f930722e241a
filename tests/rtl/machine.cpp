// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Machine mode: traps, control registers, counters, interrupts. Expected values are those of the
// privileged specification, written out.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "support.h"

namespace {

using rtl::kKeep;
using rtl::Piece;

/// Before each piece: the handler is in place, nothing is enabled, floating point is initial. A
/// piece has the label 8 at the instruction that traps; execution goes on at its label 9.
const std::string kBefore =
    "  la t0, handler\n  csrw mtvec, t0\n  csrw mie, zero\n  li t0, 0x2000\n  csrw mstatus, t0\n";

void checkMachine(const std::vector<Piece>& pieces, const rtl::Machine& machine) {
  if (!rtl::have(DOJO_CLANG)) return;
  rtl::check(pieces, kBefore, {"start.S", "machine.S"}, machine);
}

/// What all machines do.
void checkMachine(const std::vector<Piece>& pieces) {
  for (const rtl::Machine* machine : rtl::machines()) checkMachine(pieces, *machine);
}

Piece trap(const std::string& code, std::uint32_t cause, std::uint32_t value,
           std::uint32_t place = 0) {
  return {code, "  la s1, 9f\n  la s2, 8f\n" + code + "\n9:\n", {cause, value, place}};
}

Piece illegal(const std::string& code) {
  // The handler's record without the instruction, which the assembler knows better.
  return {code,
          "  la s1, 9f\n  la s2, 8f\n8: " + code + "\n9:\n  lw a2, -12(s0)\n  addi s0, s0, -12\n" +
              kKeep,
          {2}};
}

/// The value of a register after writing.
Piece kept(const std::string& csr, const std::string& written, std::uint32_t value) {
  return {csr + " = " + written,
          "  li a0, " + written + "\n  csrw " + csr + ", a0\n  csrr a2, " + csr + "\n" + kKeep,
          {value}};
}

}  // namespace

TEST_CASE("each exception has its cause, value and place") {
  checkMachine({
      trap("8: .word 0x00000000", 2, 0),
      trap("8: .word 0xffffffff", 2, 0xffffffff),
      trap("8: .word 0x02051513", 2, 0x02051513),  // slli with bit 25 set
      trap("8: .word 0x00005053", 2, 0x00005053),  // a rounding mode that there is none of
      trap("8: .word 0x00053503", 2, 0x00053503),  // ld, of 64-bit machines
      trap("8: ecall", 11, 0),
      trap("li a0, 0x80000001\n8: lw a1, 0(a0)", 4, 0x80000001),
      trap("li a0, 0x80000001\n8: lh a1, 2(a0)", 4, 0x80000003),
      trap("li a0, 0x80000002\n8: flw fa0, 0(a0)", 4, 0x80000002),
      trap("li a0, 0x80000002\n8: lr.w a1, (a0)", 4, 0x80000002),
      trap("li a0, 0x80000002\n8: sw a1, 0(a0)", 6, 0x80000002),
      trap("li a0, 0x80000002\n8: amoadd.w a1, a1, (a0)", 6, 0x80000002),
      trap("li a0, 0x80000002\n8: sc.w a1, a1, (a0)", 6, 0x80000002),
      trap("li a0, 0x40000000\n8: lw a1, 4(a0)", 5, 0x40000004),
      trap("li a0, 0x40000000\n8: sb a1, 1(a0)", 7, 0x40000001),
      trap("li a0, 0x40000000\n8: amoadd.w a1, a1, (a0)", 7, 0x40000000),
      trap("li a0, 0x40000000\nmv s2, a0\njr a0", 1, 0x40000000),
      // A branch that isn't taken doesn't care about its target.
      trap("li a0, 1\n.word 0x00050163\n8: ecall", 11, 0),
      {"ebreak",
       "  la s1, 9f\n  la s2, 8f\n8: ebreak\n9:\n  lw a2, -8(s0)\n  sub a2, a2, s2\n"
       "  sw a2, -8(s0)\n",
       {3, 0, 0}},
      {"jump to half an instruction",
       "  la s1, 9f\n  la s2, 8f\n  la a0, 8f + 2\n8: jr a0\n9:\n  lw a2, -8(s0)\n  sub a2, a2, "
       "s2\n"
       "  sw a2, -8(s0)\n",
       {0, 2, 0}},
  });
}

TEST_CASE("a load that faults leaves its destination as it was") {
  checkMachine(
      {{"lw",
        "  la s1, 9f\n  la s2, 8f\n  li a2, 5\n  li a0, 0x40000000\n8: lw a2, 0(a0)\n9:\n" + kKeep,
        {5, 0x40000000, 0, 5}}});
}

TEST_CASE("control registers keep what the specification lets them keep") {
  checkMachine({
      kept("mscratch", "0xdeadbeef", 0xdeadbeef),
      kept("mepc", "0x80001237", 0x80001234),
      kept("mcause", "0x8000000b", 0x8000000b),
      kept("mtval", "0x12345678", 0x12345678),
      kept("mtvec", "0x80001003", 0x80001001),
      kept("mstatus", "0", 0x1800),
      kept("mstatus", "-1 & ~8", 0x80007880),
      kept("mhpmcounter3", "7", 0),
      kept("fcsr", "-1", 0xff),
      kept("frm", "7", 7),
      kept("fflags", "0x15", 0x15),
  });
  checkMachine({kept("mie", "-1", 0x888), kept("misa", "0", 0x40001121), illegal("csrr a0, 0x7c0")},
               rtl::rv32());
  checkMachine({kept("mie", "-1", 0x80888), kept("misa", "0", 0x40801129), kept("0x7c0", "1", 1),
                kept("0x7c1", "3", 3), kept("0x7c0", "0", 0)},
               rtl::snitch());
}

TEST_CASE("registers that are not there, or only for reading, are illegal") {
  checkMachine({
      illegal("csrw mhartid, a0"),
      illegal("csrw cycle, a0"),
      illegal("csrr a0, dcsr"),
      illegal("csrr a0, dpc"),
      illegal("csrr a0, satp"),
      illegal("csrci mvendorid, 1"),
      // Reading without writing is allowed of read-only ones.
      {"csrrs", "  csrrs a2, mhartid, zero\n" + kKeep, {0}},
  });
}

TEST_CASE("set, clear and swap read the old value, and x0 as source does not write") {
  checkMachine(
      {{"mscratch",
        "  li a0, 0xff0\n  csrw mscratch, a0\n  csrrsi a2, mscratch, 3\n" + kKeep +
            "  csrrci a2, mscratch, 17\n" + kKeep + "  li a1, 0xf00\n  csrrc a2, mscratch, a1\n" +
            kKeep + "  csrrwi a2, mscratch, 9\n" + kKeep + "  csrrs a2, mscratch, zero\n" + kKeep +
            "  csrrw a2, mscratch, zero\n" + kKeep + "  csrr a2, mscratch\n" + kKeep,
        {0xff0, 0xff3, 0xfe2, 0x0e2, 9, 9, 0}}});
}

TEST_CASE("instructions and cycles are counted, in both halves") {
  const auto between = [](const std::string& counter) {
    return "  csrr a0, " + counter + "\n  nop\n  nop\n  nop\n  csrr a1, " + counter +
           "\n  sub a2, a1, a0\n" + kKeep;
  };
  const auto carried = [](const std::string& counter) {
    return "  csrw " + counter + "h, zero\n  li a0, -4\n  csrw " + counter +
           ", a0\n  nop\n  nop\n  nop\n  nop\n  nop\n  csrr a2, " + counter + "h\n" + kKeep;
  };
  checkMachine({
      {"minstret", between("minstret"), {4}},
      {"mcycle", between("mcycle"), {4}},
      {"minstreth", carried("minstret"), {1}},
      {"mcycleh", carried("mcycle"), {1}},
  });
}

TEST_CASE("how many cycles each instruction takes") {
  const auto takes = [](const std::string& code, std::uint32_t cycles) {
    return Piece{code,
                 "  la a3, results + 0x20000\n  li a4, 7\n  csrr a0, mcycle\n  " + code +
                     "\n1:\n  csrr a1, mcycle\n  sub a2, a1, a0\n  addi a2, a2, -1\n" + kKeep,
                 {cycles}};
  };
  checkMachine({takes("add a5, a4, a4", 1), takes("mul a5, a4, a4", 1), takes("beqz zero, 1f", 1),
                takes("bnez zero, 1f", 1), takes("j 1f", 1), takes("csrr a5, mscratch", 1),
                takes("lw a5, 0(a3)", 2), takes("sw a5, 0(a3)", 2),
                takes("amoadd.w a5, a4, (a3)", 4), takes("div a5, a4, a4", 34),
                takes("fadd.s fa0, fa1, fa2", 2), takes("fdiv.s fa0, fa1, fa2", 17)},
               rtl::rv32());
}

TEST_CASE("interrupts come where they are enabled, vectored, once") {
  const std::string vectored = "  la t0, vectors\n  ori t0, t0, 1\n  csrw mtvec, t0\n";
  const std::string software =
      vectored +
      "  li a0, 8\n  csrw mie, a0\n  li a1, CLINT\n  li a2, 1\n  sw a2, 0(a1)\n  fence\n";
  const std::string timer =
      vectored +
      "  li a0, 0x80\n  csrw mie, a0\n  li a3, CLINT + 0xc000\n  lw a2, -8(a3)\n"
      "  addi a2, a2, 200\n  li a4, CLINT + 0x4000\n  sw zero, 4(a4)\n"
      "  sw a2, 0(a4)\n";
  const std::string done = "  li a2, 0x444\n" + kKeep;
  // In mstatus: MPP, MPIE, and MIE off; floating point as it is before each piece.
  const std::vector<std::uint32_t> timed = {0x777, 0x80000007, 0x3880, 0x444};
  checkMachine({
      {"pending, not let in",
       software +
           "  nop\n  csrr a2, mip\n  andi a2, a2, 0x88\n  csrw mie, zero\n  sw zero, 0(a1)\n  "
           "fence\n" +
           kKeep,
       {8}},
      {"software", software + "  csrsi mstatus, 8\n  nop\n" + done, {0x333, 0x444}},
      {"timer, waited for", timer + "  csrsi mstatus, 8\n  wfi\n" + done, timed},
      {"timer, while something runs",
       timer + "  csrsi mstatus, 8\n  li a5, 300\n1:\n  addi a5, a5, -1\n  bnez a5, 1b\n" + done,
       timed},
      {"a wait ends without an interrupt where they are off",
       timer + "  wfi\n  csrw mie, zero\n" + done,
       {0x444}},
  });
}

TEST_CASE("harts of the cluster have an interrupt and a barrier more") {
  const std::string places = "  la s1, 9f\n  la s2, 8f\n";
  // Interrupts go to 7, which lets no more in, and where it goes on at 9, after cause and place.
  const std::string begin = "  la t0, 7f\n  csrw mtvec, t0\n" + places;
  const std::string handler =
      "  .balign 4\n7:csrw mie, zero\n  csrr t0, mcause\n  sw t0, 0(s0)\n  csrr t0, mepc\n"
      "  sub t0, t0, s2\n  sw t0, 4(s0)\n  addi s0, s0, 8\n  csrw mepc, s1\n  mret\n9:\n";
  const std::string soon =
      "  li a3, CLINT + 0xc000\n  li a4, CLINT + 0x4000\n  sw zero, 4(a4)\n  lw a2, -8(a3)\n"
      "  addi a2, a2, 100\n  sw a2, 0(a4)\n  li a0, 0x80\n  csrw mie, a0\n  csrsi mstatus, 8\n";
  const std::string barrier = begin + soon + "8: csrr zero, 0x7c2\n" + handler;
  checkMachine(
      {{"cluster interrupt",
        begin + "  li a1, 0x100211a8\n  li a3, 1\n  sw a3, 0(a1)\n  fence\n  csrr a2, mip\n" +
            kKeep +
            "  li a2, 0x80000\n  csrw mie, a2\n  csrsi mstatus, 8\n  sw a3, -8(a1)\n"
            "8: fence\n1:\n  j 1b\n" +
            handler + "  sw a3, 0(a1)\n  fence\n  csrr a2, mip\n" + kKeep,
        {0, 0x80000013, 0, 0}},
       // The other hart never comes.
       {"an interrupt ends a wait at the barrier, and it can be waited for again",
        barrier + barrier,
        {0x80000007, 0, 0x80000007, 0}},
       {"what a device refuses traps late, with its own place",
        places + "  li a0, CLINT\n8: lw a1, 0x700(a0)\n  fence\n  nop\n9:\n",
        {5, 0xffff0700, 0}},
       {"a store that a device refuses",
        places + "  li a0, CLINT\n8: sw a1, 0x704(a0)\n  addi a1, a1, 1\n  fence\n  nop\n9:\n",
        {7, 0xffff0704, 0}}},
      rtl::snitch());
}

TEST_CASE("floating point is illegal while it is off, and dirty after a write") {
  std::vector<Piece> pieces;
  for (const char* code : {"fadd.s fa0, fa0, fa0", "flw fa0, 0(sp)", "fsw fa0, 0(sp)", "frcsr a0",
                           "fmv.x.w a0, fa0", "fsrmi a0, 0"}) {
    pieces.push_back({code,
                      "  la s1, 9f\n  la s2, 8f\n  csrw mstatus, zero\n8: " + std::string(code) +
                          "\n9:\n  lw a2, -12(s0)\n  addi s0, s0, -12\n" + kKeep,
                      {2}});
  }
  for (const char* code :
       {"fmv.w.x fa0, zero", "flw fa0, 0(sp)", "csrw fcsr, zero", "feq.s a0, fa0, fa0"}) {
    pieces.push_back(
        {code,
         "  csrr a2, mstatus\n" + kKeep + "  " + code + "\n  csrr a2, mstatus\n" + kKeep,
         {0x3800, 0x80007800}});
  }
  checkMachine(pieces);
}
