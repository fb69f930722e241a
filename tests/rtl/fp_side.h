// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Instructions of the cluster's FP side that assemblers don't know
/// (targets/rtl/snitch/ENCODINGS.md).
#pragma once

#include <cstdint>
#include <string>

namespace rtl {

/// Registers of a data mover.
enum StreamRegister : unsigned {
  kStatus = 0,
  kRepeat = 1,
  kBound = 2,
  kStride = 6,
  kIndexKind = 10,
  kIndexBase = 11,
  kIndirectRead = 16,
  kIndirectWrite = 20,
  kRead = 24,
  kWrite = 28
};

[[nodiscard]] inline std::string word(std::uint32_t instruction) {
  return "  .word " + std::to_string(instruction) + "\n";
}

/// frep.o (frep.i): the next `count` instructions, x[iterations] + 1 times.
[[nodiscard]] inline std::string frep(unsigned iterations, unsigned count, unsigned stagger = 0,
                                      unsigned mask = 0, bool outer = true) {
  return word((count - 1) << 20 | iterations << 15 | stagger << 12 | mask << 8 |
              (outer ? 1U << 7 : 0U) | 0x0b);
}

/// A register of a data mover = x[source].
[[nodiscard]] inline std::string scfgwi(unsigned mover, unsigned reg, unsigned source) {
  return word((reg << 5 | mover) << 20 | source << 15 | 2U << 12 | 0x2b);
}
[[nodiscard]] inline std::string scfgri(unsigned mover, unsigned reg, unsigned target) {
  return word((reg << 5 | mover) << 20 | 1U << 12 | target << 7 | 0x2b);
}
/// The same with the address in x[address].
[[nodiscard]] inline std::string scfgw(unsigned address, unsigned source) {
  return word(address << 20 | source << 15 | 2U << 12 | 1U << 7 | 0x2b);
}
[[nodiscard]] inline std::string scfgr(unsigned address, unsigned target) {
  return word(address << 20 | 1U << 15 | 1U << 12 | target << 7 | 0x2b);
}

/// By way of t3.
[[nodiscard]] inline std::string configure(unsigned mover, unsigned reg, std::int64_t value) {
  return "  li t3, " + std::to_string(static_cast<std::int32_t>(value)) + "\n" +
         scfgwi(mover, reg, 28);
}

inline const std::string kStreamsOn = "  csrsi 0x7c0, 1\n";
inline const std::string kStreamsOff = "  csrci 0x7c0, 1\n";
/// Waits until the FP side has issued all that came before.
inline const std::string kSynchronise = "  fmv.x.w t6, ft11\n  mv t6, t6\n";

}  // namespace rtl
