// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random instructions on the model and on QEMU: every register, the flags and a stretch of memory
// must come out the same.
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "support.h"

namespace {

using u32 = std::uint32_t;

/// Registers that streams keep: x0, sp, s0 (results) and a base of 4 KiB of memory.
constexpr u32 kBase = 18;  // s2

/// Draws instruction words that neither trap nor leave the stream.
class Stream {
 public:
  explicit Stream(std::uint64_t seed) : random_(seed) {}

  [[nodiscard]] std::vector<u32> words(std::size_t count) {
    std::vector<u32> out;
    while (out.size() < count) {
      const u32 left = static_cast<u32>(count - out.size());
      out.push_back(word(left));
    }
    return out;
  }
  u32 draw(u32 bound) { return static_cast<u32>(random_() % bound); }
  /// A value of which many are at the ends of ranges or special as a float.
  u32 value() {
    static constexpr u32 kSpecial[] = {0,          1,          0xffffffff, 0x80000000, 0x7fffffff,
                                       0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000,
                                       0x7f800001, 0x00000001, 0x007fffff, 0x00800000, 0x4f000000};
    if (draw(2) == 0) return kSpecial[draw(std::size(kSpecial))];
    return static_cast<u32>(random_());
  }

 private:
  u32 target() {
    for (;;) {
      const u32 reg = draw(32);
      if (reg != 2 && reg != 8 && reg != kBase) return reg;
    }
  }
  static u32 r(u32 opcode, u32 rd, u32 funct3, u32 rs1, u32 rs2, u32 funct7) {
    return funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
  }
  u32 rounding() { return draw(3) == 0 ? 7 : draw(5); }

  u32 word(u32 left) {
    switch (draw(10)) {
      case 0:
      case 1: {  // register
        const u32 funct3 = draw(8);
        const u32 funct7 = (funct3 == 0 || funct3 == 5) && draw(2) == 0 ? 0x20 : 0;
        return r(0x33, target(), funct3, draw(32), draw(32), funct7);
      }
      case 2:
        return r(0x33, target(), draw(8), draw(32), draw(32), 1);  // M
      case 3: {                                                    // immediate
        const u32 funct3 = draw(8);
        u32 imm = draw(4096);
        if (funct3 == 1) imm &= 31;
        if (funct3 == 5) imm &= 0x41f;
        return imm << 20 | draw(32) << 15 | funct3 << 12 | target() << 7 | 0x13;
      }
      case 4: {  // load, store
        const u32 size = draw(3);
        const u32 at = draw(2048) & ~((u32(1) << size) - 1);
        if (draw(2) == 0) {
          return (at >> 5) << 25 | draw(32) << 20 | kBase << 15 | size << 12 | (at & 31) << 7 |
                 0x23;
        }
        const u32 funct3 = size < 2 && draw(2) == 0 ? size + 4 : size;
        return at << 20 | kBase << 15 | funct3 << 12 | target() << 7 | 0x03;
      }
      case 5: {  // branch forwards over at most seven words, within the stream
        const u32 over = 1 + draw(7);
        if (over >= left) return 0x13;
        static constexpr u32 kTests[] = {0, 1, 4, 5, 6, 7};
        const u32 by = 4 * over;
        return (by >> 5) << 25 | draw(32) << 20 | draw(32) << 15 | kTests[draw(6)] << 12 |
               (by & 0x1e) << 7 | 0x63;
      }
      case 6: {  // lui, auipc would differ where the programs lie: here they lie the same
        return static_cast<u32>(random_()) << 12 | target() << 7 | (draw(4) == 0 ? 0x17U : 0x37U);
      }
      case 7: {  // atomic: at the base, whatever it holds
        static constexpr u32 kFunctions[] = {0, 1, 4, 8, 12, 16, 20, 24, 28};
        return kFunctions[draw(9)] << 27 | draw(32) << 20 | kBase << 15 | 2 << 12 | target() << 7 |
               0x2f;
      }
      case 8: {  // float: loads, stores, moves, flags
        switch (draw(5)) {
          case 0:
            return (draw(512) * 4) << 20 | kBase << 15 | 2 << 12 | draw(32) << 7 | 0x07;
          case 1: {
            const u32 at = draw(512) * 4;
            return (at >> 5) << 25 | draw(32) << 20 | kBase << 15 | 2 << 12 | (at & 31) << 7 | 0x27;
          }
          case 2:
            return r(0x53, draw(32), 0, draw(32), 0, 0x78);
          case 3:
            return r(0x53, target(), 0, draw(32), 0, 0x70);
          default:
            return 0x00302073 | target() << 7;  // csrr rd, fcsr
        }
      }
      default:
        return arithmetic();
    }
  }

  u32 arithmetic() {
    static constexpr u32 kFunctions[] = {0x00, 0x04, 0x08, 0x0c, 0x2c, 0x10,
                                         0x14, 0x60, 0x68, 0x50, 0x70};
    if (draw(4) == 0) {
      return draw(32) << 27 | draw(32) << 20 | draw(32) << 15 | rounding() << 12 | draw(32) << 7 |
             (0x43 | draw(4) << 2);
    }
    const u32 function = kFunctions[draw(std::size(kFunctions))];
    switch (function) {
      case 0x2c:
        return r(0x53, draw(32), rounding(), draw(32), 0, function);
      case 0x10:
        return r(0x53, draw(32), draw(3), draw(32), draw(32), function);
      case 0x14:
        return r(0x53, draw(32), draw(2), draw(32), draw(32), function);
      case 0x60:
        return r(0x53, target(), rounding(), draw(32), draw(2), function);
      case 0x68:
        return r(0x53, draw(32), rounding(), draw(32), draw(2), function);
      case 0x50:
        return r(0x53, target(), draw(3), draw(32), draw(32), function);
      case 0x70:
        return r(0x53, target(), 1, draw(32), 0, function);
      default:
        return r(0x53, draw(32), rounding(), draw(32), draw(32), function);
    }
  }

  std::mt19937_64 random_;
};

/// A stream as assembly: fills registers and memory with values, runs, stores registers, fcsr and
/// the sum of the memory at s0.
std::string code(std::uint64_t seed, std::size_t count) {
  Stream stream(seed);
  std::string out =
      "  la s2, scratch\n  li t0, 0x2000\n  mv t1, s2\n  addi t3, t1, 2047\n  li t2, " +
      std::to_string(stream.draw(0x7fffffff)) +
      "\n1:\n  sw t2, 0(t1)\n  slli t4, t2, 7\n  xor t2, t2, t4\n  srli t4, t2, 9\n"
      "  xor t2, t2, t4\n  addi t1, t1, 4\n  bltu t1, t3, 1b\n";
  for (int reg = 0; reg < 32; ++reg) {
    out += "  li t0, " + std::to_string(stream.value()) + "\n  fmv.w.x f" + std::to_string(reg) +
           ", t0\n";
  }
  out += "  csrwi fflags, 0\n  csrwi frm, " + std::to_string(stream.draw(5)) + "\n";
  const auto kept = [](int reg) { return reg == 0 || reg == 2 || reg == 8 || reg == 18; };
  for (int reg = 1; reg < 32; ++reg) {
    if (!kept(reg)) {
      out += "  li x" + std::to_string(reg) + ", " + std::to_string(stream.value()) + "\n";
    }
  }
  for (const u32 word : stream.words(count)) out += "  .word 0x" + rtl::hex(word) + "\n";
  int at = 0;
  for (int reg = 1; reg < 32; ++reg) {
    if (kept(reg)) continue;
    out += "  sw x" + std::to_string(reg) + ", " + std::to_string(4 * at++) + "(s0)\n";
  }
  for (int reg = 0; reg < 32; ++reg) {
    out += "  fsw f" + std::to_string(reg) + ", " + std::to_string(4 * at++) + "(s0)\n";
  }
  out += "  csrr t0, fcsr\n  sw t0, " + std::to_string(4 * at++) + "(s0)\n";
  out +=
      "  mv t1, s2\n  addi t3, t1, 2047\n  li t2, 0\n1:\n  lw t0, 0(t1)\n  slli t4, t2, 5\n"
      "  srli t2, t2, 27\n  or t2, t2, t4\n  add t2, t2, t0\n  addi t1, t1, 4\n"
      "  bltu t1, t3, 1b\n  sw t2, " +
      std::to_string(4 * at) + "(s0)\n  addi s0, s0, " + std::to_string(4 * (at + 1)) + "\n";
  return out;
}

constexpr std::size_t kRecord = 28 + 32 + 2;

void compare(std::uint64_t firstSeed, int streams, std::size_t count) {
  const rtl::Folder folder;
  std::string body;
  for (int i = 0; i < streams; ++i) body += code(firstSeed + static_cast<std::uint64_t>(i), count);
  body += "  .bss\n  .balign 4096\nscratch: .space 4096\n  .text\n";
  const std::string source = folder.write("test.S", rtl::frame(body));
  const std::string elf = rtl::build(folder, {"start.S", source});
  const auto model = rtl::lines(rtl::runOnModel(elf));
  const auto reference = rtl::lines(rtl::runOnQemu(elf));
  REQUIRE(reference.size() == kRecord * static_cast<std::size_t>(streams));
  REQUIRE(model.size() == reference.size());
  for (std::size_t i = 0; i < model.size(); ++i) {
    if (model[i] == reference[i]) continue;
    INFO("stream " << firstSeed + i / kRecord << ", word " << i % kRecord);
    CHECK(model[i] == reference[i]);
  }
}

}  // namespace

TEST_CASE("random instructions end as they do on QEMU") {
  if (!rtl::have(DOJO_CLANG) || !rtl::have("qemu-system-riscv32")) return;
  // Short ones find the place, long ones the rare pair.
  compare(1, 200, 12);
  compare(1000, 40, 300);
}
