// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every floating-point encoding through the cluster's FP side: that it reads and writes the
// registers that it should. What it computes has tests of its own (snitch_float.cpp).
#include <bit>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "fp_side.h"
#include "snitch_float.h"
#include "support.h"

namespace {

using namespace rtl;

// fa0, fa1, fa2 and the integer a0 go in, fa3 (which is read, too) or a3 comes out.
constexpr std::uint32_t kRegisters = 11U << 20 | 10U << 15 | 13U << 7;

struct Form {
  std::uint32_t instruction;
  bool fromInteger = false, toInteger = false;
};

std::uint32_t scalar(unsigned function, unsigned format, unsigned funct3) {
  return function << 27 | format << 25 | funct3 << 12 | 0x53 | kRegisters;
}
/// The same with rs2 as part of the function.
std::uint32_t one(unsigned function, unsigned format, unsigned rs2, unsigned funct3) {
  return (scalar(function, format, funct3) & ~(31U << 20)) | rs2 << 20;
}
std::uint32_t packed(unsigned funct7, unsigned funct3) {
  return funct7 << 25 | funct3 << 12 | 0x33 | kRegisters;
}
std::uint32_t packedOne(unsigned funct7, unsigned rs2, unsigned funct3) {
  return (packed(funct7, funct3) & ~(31U << 20)) | rs2 << 20;
}

std::vector<Form> forms() {
  std::vector<Form> out;
  for (unsigned format = 0; format < 4; ++format) {
    for (const unsigned opcode : {0x43U, 0x47U, 0x4bU, 0x4fU}) {
      out.push_back({12U << 27 | format << 25 | 7U << 12 | opcode | kRegisters});
    }
    for (const unsigned function : {0U, 1U, 2U}) out.push_back({scalar(function, format, 7)});
    for (unsigned i = 0; i < 3; ++i) {
      out.push_back({scalar(4, format, i)});
      if (i < 2) out.push_back({scalar(5, format, i)});
      out.push_back({scalar(0x14, format, i), false, true});
    }
    for (unsigned from = 0; from < 4; ++from) {
      if (from != format || format > 1) out.push_back({one(8, format, from, 7)});
    }
    if (format > 1) {
      out.push_back({scalar(9, format, 7)});
      out.push_back({scalar(10, format, 7)});
    }
    for (const unsigned isUnsigned : {0U, 1U}) {
      out.push_back({one(0x18, format, isUnsigned, 1), false, true});
      out.push_back({one(0x1a, format, isUnsigned, 7), true, false});
    }
    out.push_back({one(0x1c, format, 0, 1), false, true});
    if (format != 1) {
      out.push_back({one(0x1c, format, 0, 0), false, true});
      out.push_back({one(0x1e, format, 0, 0), true, false});
    }
  }
  for (const unsigned format : {0U, 2U, 3U}) {
    for (const unsigned variant : {0U, 4U}) {
      const unsigned funct3 = format + variant;
      for (const unsigned funct7 :
           {0x41U, 0x42U, 0x43U, 0x45U, 0x46U, 0x48U, 0x49U, 0x4dU, 0x4eU, 0x4fU, 0x58U, 0x5aU}) {
        // Two singles fill the register: there are no lanes for vfcpkb.
        if (funct7 >= 0x58 && format == 0 && variant != 0) continue;
        out.push_back({packed(funct7, funct3)});
      }
      if (format == 3) {
        out.push_back({packed(0x59, funct3)});
        out.push_back({packed(0x5b, funct3)});
      }
      for (unsigned compare = 0; compare < 6; ++compare) {
        out.push_back({packed(0x50 + compare, funct3), false, true});
      }
      for (const unsigned rs2 : {4U, 5U, 6U, 7U}) out.push_back({packedOne(0x4c, rs2, funct3)});
      if (format != 3) {
        out.push_back({packed(0x4b, funct3)});
        out.push_back({packed(0x5d, funct3)});
      }
    }
    out.push_back({packedOne(0x4c, 0, format), false, true});
    out.push_back({packedOne(0x4c, 0, format + 4), true, false});
  }
  for (const unsigned funct7 : {0x47U, 0x57U}) {
    out.push_back({packedOne(funct7, 0x1c, 0)});
    out.push_back({packedOne(funct7, 0x1e, 2)});
    out.push_back({packedOne(funct7, 0x07, 3)});
    out.push_back({packedOne(funct7, 0x16, 0)});
    out.push_back({packedOne(funct7, 0x17, 2)});
  }
  return out;
}

std::string load(unsigned reg, std::uint64_t value, int place) {
  const std::string at = std::to_string(8 * place);
  const std::string next = std::to_string(8 * place + 4);
  return "  li t1, " + std::to_string(static_cast<std::uint32_t>(value)) + "\n  sw t1, " + at +
         "(t0)\n  li t1, " + std::to_string(static_cast<std::uint32_t>(value >> 32)) +
         "\n  sw t1, " + next + "(t0)\n  fld f" + std::to_string(reg) + ", " + at + "(t0)\n";
}

}  // namespace

TEST_CASE("each encoding reads and writes its registers", "[rtl][snitch]") {
  if (!have(DOJO_CLANG)) return;
  std::mt19937_64 random(11);
  std::vector<Piece> pieces;
  for (const Form& form : forms()) {
    // Half of the time singles in their boxes, so that scalars see numbers, too.
    std::uint64_t values[4];
    for (std::uint64_t& value : values) {
      value = random();
      if (random() % 2 == 0) value = 0xffffffff00000000 | std::uint32_t(value);
    }
    const auto integer = static_cast<std::uint32_t>(random());
    const unsigned frm = static_cast<unsigned>(random() % 5);
    const unsigned mode = static_cast<unsigned>(random() % 4);
    const bool fused = (form.instruction & 0x73) == 0x43;
    unsigned flags = 0;
    const std::uint64_t result = dojo::rtl::computeFp(
        form.instruction, frm, mode,
        {form.fromInteger ? integer : values[0], values[1], fused ? values[2] : values[3]}, flags);
    Piece piece{
        hex(form.instruction) + " frm " + std::to_string(frm) + " mode " + std::to_string(mode),
        "  li t0, 0x10000000\n",
        {}};
    for (unsigned i = 0; i < 4; ++i) {
      piece.code += load(10 + i, values[i], static_cast<int>(i));
    }
    piece.code += "  li a0, " + std::to_string(integer) + "\n  csrwi frm, " + std::to_string(frm) +
                  "\n  csrwi 0x7c1, " + std::to_string(mode) + "\n  csrwi fflags, 0\n" +
                  word(form.instruction) + "  csrwi 0x7c1, 0\n";
    if (form.toInteger) {
      piece.code += "  mv a2, a3\n" + kKeep;
      piece.words.push_back(static_cast<std::uint32_t>(result));
    } else {
      piece.code += "  fsd fa3, 0(t0)\n  lw a2, 0(t0)\n" + kKeep + "  lw a2, 4(t0)\n" + kKeep;
      piece.words.push_back(static_cast<std::uint32_t>(result));
      piece.words.push_back(static_cast<std::uint32_t>(result >> 32));
    }
    piece.code += "  csrr a2, fflags\n" + kKeep + "  csrwi frm, 0\n";
    piece.words.push_back(flags);
    pieces.push_back(piece);
  }
  CHECK(pieces.size() > 200);
  check(pieces, {}, {"start.S"}, snitch());
}
