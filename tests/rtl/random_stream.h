// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Random instruction words that neither trap nor leave the stream that they make up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <vector>

namespace rtl {

/// What a stream is made of, beside RV32IMAF.
struct StreamKinds {
  bool doubles = false;
  bool divides = true;  ///< Floating-point division and root.
};

/// Draws instruction words. x0, sp, s0 (results) and s2 (4 KiB of memory) are kept; s2 is never an
/// operand, so that it doesn't matter where that memory is.
class Stream {
 public:
  using u32 = std::uint32_t;
  static constexpr u32 kBase = 18;  ///< s2

  Stream(std::uint64_t seed, StreamKinds kinds) : random_(seed), kinds_(kinds) {}

  [[nodiscard]] std::vector<u32> words(std::size_t count) {
    std::vector<u32> out;
    while (out.size() < count) out.push_back(word(static_cast<u32>(count - out.size())));
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
  /// The upper half of a 64-bit pattern: often that of a boxed float or of a double at an edge.
  u32 upperValue() {
    static constexpr u32 kSpecial[] = {0xffffffff, 0x00000000, 0x80000000, 0x3ff00000, 0xbff00000,
                                       0x7ff00000, 0xfff00000, 0x7ff80000, 0x00100000, 0x47efffff,
                                       0x36a00000, 0x41dfffff, 0x41f00000, 0xc1e00000, 0x000fffff};
    const u32 kind = draw(4);
    if (kind == 0) return 0xffffffff;
    if (kind == 1) return kSpecial[draw(std::size(kSpecial))];
    if (kind == 2) return 0x3f000000 + draw(0x02000000);
    return static_cast<u32>(random_());
  }

 private:
  u32 target() {
    for (;;) {
      const u32 reg = draw(32);
      if (reg != 2 && reg != 8 && reg != kBase) return reg;
    }
  }
  u32 source() {
    const u32 reg = draw(32);
    return reg == kBase ? 0 : reg;
  }
  static u32 r(u32 opcode, u32 rd, u32 funct3, u32 rs1, u32 rs2, u32 funct7) {
    return funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
  }
  u32 rounding() { return draw(3) == 0 ? 7 : draw(5); }
  u32 format() { return kinds_.doubles ? draw(2) : 0; }

  u32 word(u32 left) {
    switch (draw(kinds_.doubles ? 13 : 10)) {
      case 0:
      case 1: {  // register
        const u32 funct3 = draw(8);
        const u32 funct7 = (funct3 == 0 || funct3 == 5) && draw(2) == 0 ? 0x20 : 0;
        return r(0x33, target(), funct3, source(), source(), funct7);
      }
      case 2:
        return r(0x33, target(), draw(8), source(), source(), 1);  // M
      case 3: {                                                    // immediate
        const u32 funct3 = draw(8);
        u32 imm = draw(4096);
        if (funct3 == 1) imm &= 31;
        if (funct3 == 5) imm &= 0x41f;
        return imm << 20 | source() << 15 | funct3 << 12 | target() << 7 | 0x13;
      }
      case 4:
        return access();
      case 5: {  // branch forwards over at most seven words, within the stream
        const u32 over = 1 + draw(7);
        if (over >= left) return 0x13;
        static constexpr u32 kTests[] = {0, 1, 4, 5, 6, 7};
        const u32 by = 4 * over;
        return (by >> 5) << 25 | source() << 20 | source() << 15 | kTests[draw(6)] << 12 |
               (by & 0x1e) << 7 | 0x63;
      }
      case 6: {  // lui, auipc: the programs lie at the same place
        return static_cast<u32>(random_()) << 12 | target() << 7 | (draw(4) == 0 ? 0x17U : 0x37U);
      }
      case 7: {  // atomic: at the base, whatever it holds
        static constexpr u32 kFunctions[] = {0, 1, 4, 8, 12, 16, 20, 24, 28};
        return kFunctions[draw(9)] << 27 | source() << 20 | kBase << 15 | 2 << 12 | target() << 7 |
               0x2f;
      }
      case 8:
      case 9:
        return floatOther();
      default:
        return arithmetic();
    }
  }

  /// Few places more often than not: what is loaded was stored just before.
  u32 place(u32 size) {
    const u32 at = draw(4) != 0 ? draw(32) : draw(2048);
    return at & ~((u32(1) << size) - 1);
  }
  u32 access() {
    const u32 size = draw(3);
    const u32 at = place(size);
    if (draw(2) == 0) {
      return (at >> 5) << 25 | source() << 20 | kBase << 15 | size << 12 | (at & 31) << 7 | 0x23;
    }
    const u32 funct3 = size < 2 && draw(2) == 0 ? size + 4 : size;
    return at << 20 | kBase << 15 | funct3 << 12 | target() << 7 | 0x03;
  }

  u32 floatOther() {  // loads, stores, moves, flags and the rounding mode
    const u32 size = 2 + format();
    const u32 at = place(size);
    switch (draw(6)) {
      case 0:
        return at << 20 | kBase << 15 | size << 12 | draw(32) << 7 | 0x07;
      case 1:
        return (at >> 5) << 25 | draw(32) << 20 | kBase << 15 | size << 12 | (at & 31) << 7 | 0x27;
      case 2:
        return r(0x53, draw(32), 0, source(), 0, 0x78);
      case 3:
        return r(0x53, target(), 0, draw(32), 0, 0x70);
      case 4:
        return 0x00205073 | draw(5) << 15 | target() << 7;  // csrrwi rd, frm, mode
      default:
        return (draw(2) == 0 ? 0x00302073U : 0x00101073U) | target()
                                                                << 7;  // read fcsr, clear flags
    }
  }

  u32 arithmetic() {
    static constexpr u32 kFunctions[] = {0x00, 0x04, 0x08, 0x10, 0x14, 0x60,
                                         0x68, 0x50, 0x70, 0x20, 0x0c, 0x2c};
    const u32 fmt = format();
    if (draw(4) == 0) {
      return draw(32) << 27 | fmt << 25 | draw(32) << 20 | draw(32) << 15 | rounding() << 12 |
             draw(32) << 7 | (0x43 | draw(4) << 2);
    }
    const u32 base = kFunctions[draw(kinds_.divides ? 12 : 10)];
    const u32 function = base | fmt;
    switch (base) {
      case 0x2c:
        return r(0x53, draw(32), rounding(), draw(32), 0, function);
      case 0x10:
        return r(0x53, draw(32), draw(3), draw(32), draw(32), function);
      case 0x14:
        return r(0x53, draw(32), draw(2), draw(32), draw(32), function);
      case 0x60:
        return r(0x53, target(), rounding(), draw(32), draw(2), function);
      case 0x68:
        return r(0x53, draw(32), rounding(), source(), draw(2), function);
      case 0x50:
        return r(0x53, target(), draw(3), draw(32), draw(32), function);
      case 0x70:
        return r(0x53, target(), 1, draw(32), 0, function);
      case 0x20:  // between the formats
        if (!kinds_.doubles) return r(0x53, draw(32), draw(3), draw(32), draw(32), 0x10);
        return r(0x53, draw(32), rounding(), draw(32), 1 - fmt, function);
      default:
        return r(0x53, draw(32), rounding(), draw(32), draw(32), function);
    }
  }

  std::mt19937_64 random_;
  StreamKinds kinds_;
};

}  // namespace rtl
