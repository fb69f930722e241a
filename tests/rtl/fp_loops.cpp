// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hardware loops of the cluster's FP side against an interpreter of them; what else is particular
// to it: order with the integer core, flags, boxes, the switch of the streams, rounding modes.
#include <array>
#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "fp_side.h"
#include "support.h"

namespace {

using namespace rtl;

using Registers = std::array<double, 32>;

struct Operation {
  unsigned kind;  ///< 0 add, 1 subtract, 2 fused negated multiply-subtract, 3 sign
  unsigned rd, rs1, rs2, rs3;
};

std::string assembly(const Operation& op) {
  const auto f = [](unsigned r) { return " f" + std::to_string(r); };
  const char* const kNames[] = {"fadd.d", "fsub.d", "fnmsub.d", "fsgnjx.d"};
  // GNU names of registers, so by number.
  std::string out =
      std::string("  ") + kNames[op.kind] + f(op.rd) + "," + f(op.rs1) + "," + f(op.rs2);
  if (op.kind == 2) out += "," + f(op.rs3);
  return out + "\n";
}

void execute(Operation op, unsigned stagger, unsigned mask, Registers& f) {
  const auto shift = [&](unsigned& reg, unsigned bit) {
    if ((mask >> bit & 1) != 0) reg = (reg + stagger) & 31;
  };
  shift(op.rd, 0);
  shift(op.rs1, 1);
  shift(op.rs2, 2);
  if (op.kind == 2) shift(op.rs3, 3);
  const double a = f[op.rs1];
  const double b = f[op.rs2];
  switch (op.kind) {
    case 0:
      f[op.rd] = a + b;
      break;
    case 1:
      f[op.rd] = a - b;
      break;
    case 2:
      f[op.rd] = std::fma(-a, b, f[op.rs3]);
      break;
    default:
      f[op.rd] = std::signbit(b) ? -a : a;
  }
}

struct Loop {
  std::size_t first = 0, count = 0;
  unsigned iterations = 0, stagger = 0, mask = 0;
  bool outer = true;
};

/// Loops in nesting order, of a list of operations.
struct Nest {
  std::vector<Operation> body;
  std::vector<Loop> loops;
};

void interpret(const Nest& nest, std::size_t level, std::size_t from, std::size_t to,
               unsigned stagger, unsigned mask, Registers& f) {
  for (std::size_t at = from; at < to; ++at) {
    if (level < nest.loops.size() && nest.loops[level].first == at) {
      const Loop& loop = nest.loops[level];
      if (loop.outer) {
        for (unsigned i = 0; i < loop.iterations; ++i) {
          interpret(nest, level + 1, at, at + loop.count, i % (loop.stagger + 1), loop.mask, f);
        }
      } else {
        unsigned step = 0;
        for (std::size_t k = at; k < at + loop.count; ++k) {
          for (unsigned i = 0; i < loop.iterations; ++i, ++step) {
            execute(nest.body[k], step % (loop.stagger + 1), loop.mask, f);
          }
        }
      }
      at += loop.count - 1;
      level = nest.loops.size();
      continue;
    }
    execute(nest.body[at], stagger, mask, f);
  }
}

/// All fused, or any.
Operation randomOperation(std::mt19937& random, bool fused = false) {
  const auto reg = [&] { return 3 + random() % 20; };
  return {fused ? 2 : static_cast<unsigned>(random() % 4), static_cast<unsigned>(reg()),
          static_cast<unsigned>(reg()), static_cast<unsigned>(reg()), static_cast<unsigned>(reg())};
}

Piece piece(const std::string& what, const Nest& nest, std::mt19937& random) {
  Registers f{};
  std::string code = "  li t0, 0x10000000\n";
  for (unsigned i = 0; i < 32; ++i) {
    f[i] = static_cast<int>(i) - 9;
    code += "  li t1, " + std::to_string(static_cast<int>(i) - 9) + "\n  fcvt.d.w f" +
            std::to_string(i) + ", t1\n";
  }
  std::size_t level = 0;
  for (std::size_t at = 0; at < nest.body.size(); ++at) {
    while (level < nest.loops.size() && nest.loops[level].first == at) {
      const Loop& loop = nest.loops[level];
      const unsigned counter = level == 0 ? 10 : 11;  // a0, a1
      code += "  li x" + std::to_string(counter) + ", " + std::to_string(loop.iterations - 1) +
              "\n" +
              frep(counter, static_cast<unsigned>(loop.count), loop.stagger, loop.mask, loop.outer);
      ++level;
    }
    if (random() % 4 == 0) code += "  addi t2, t2, 1\n";  // The core goes its own way.
    code += assembly(nest.body[at]);
  }
  interpret(nest, 0, 0, nest.body.size(), 0, 0, f);
  Piece out{what, code, {}};
  for (unsigned i = 3; i < 32; ++i) {
    out.code += "  fsd f" + std::to_string(i) + ", 0(t0)\n  lw a2, 0(t0)\n" + kKeep +
                "  lw a2, 4(t0)\n" + kKeep;
    const auto bits = std::bit_cast<std::uint64_t>(f[i]);
    out.words.push_back(static_cast<std::uint32_t>(bits));
    out.words.push_back(static_cast<std::uint32_t>(bits >> 32));
  }
  return out;
}

void checkPieces(const std::vector<Piece>& pieces) {
  if (!have(DOJO_CLANG)) return;
  check(pieces, {}, {"start.S"}, snitch());
}

/// fs0 = value, by way of t1.
std::string load(const std::string& reg, double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return "  li t0, 0x10000000\n  li t1, " + std::to_string(static_cast<std::uint32_t>(bits)) +
         "\n  sw t1, 0(t0)\n  li t1, " + std::to_string(static_cast<std::uint32_t>(bits >> 32)) +
         "\n  sw t1, 4(t0)\n  fld " + reg + ", 0(t0)\n";
}

}  // namespace

TEST_CASE("hardware loops, nested and staggered, do what an interpreter of them does",
          "[rtl][snitch]") {
  std::mt19937 random(9);
  std::vector<Piece> pieces;
  for (int i = 0; i < 40; ++i) {
    Nest nest;
    // Where others than fused operations have their function, those have rs3: no stagger there.
    const bool fused = random() % 3 == 0;
    const unsigned masks = fused ? 16 : 8;
    const std::size_t length = 1 + random() % 14;
    const std::size_t lead = random() % 3;
    for (std::size_t k = 0; k < lead + length + random() % 3; ++k) {
      nest.body.push_back(randomOperation(random, fused));
    }
    Loop outer{lead, length, 1 + static_cast<unsigned>(random() % 5), 0, 0, true};
    const bool nested = i % 2 == 0;
    if (!nested) {
      outer.stagger = static_cast<unsigned>(random() % 8);
      outer.mask = static_cast<unsigned>(random() % masks);
      outer.outer = i % 8 != 1;
    }
    nest.loops.push_back(outer);
    if (nested) {
      // Also one that begins or ends with the outer loop.
      Loop inner;
      inner.first = lead + random() % length;
      inner.count = 1 + random() % (lead + length - inner.first);
      inner.iterations = 1 + static_cast<unsigned>(random() % 5);
      inner.stagger = static_cast<unsigned>(random() % 8);
      inner.mask = static_cast<unsigned>(random() % masks);
      nest.loops.push_back(inner);
    }
    std::string what = "nest " + std::to_string(i);
    for (const Loop& loop : nest.loops) {
      what += " (from " + std::to_string(loop.first) + ", " + std::to_string(loop.count) + " x " +
              std::to_string(loop.iterations) + ", stagger " + std::to_string(loop.stagger) + "/" +
              std::to_string(loop.mask) + ")";
    }
    pieces.push_back(piece(what, nest, random));
  }
  // As long as the buffer; once and many times.
  for (const unsigned iterations : {1U, 3U}) {
    Nest nest;
    for (int k = 0; k < 34; ++k) nest.body.push_back(randomOperation(random));
    nest.loops.push_back({1, 32, iterations, 0, 0, true});
    nest.loops.push_back({20, 13, 2, 3, 1, true});
    pieces.push_back(piece("full", nest, random));
  }
  checkPieces(pieces);
}

TEST_CASE("loops follow one another", "[rtl][snitch]") {
  std::string code = "  li t1, 1\n  fcvt.d.w fa1, t1\n  fcvt.d.w fa0, x0\n";
  for (int i = 0; i < 5; ++i) {
    code += "  li t0, " + std::to_string(9 + i) + "\n" + frep(5, 1) + "  fadd.d fa0, fa0, fa1\n";
  }
  code += "  fcvt.w.d a2, fa0\n" + kKeep;
  // A loop of 65536 iterations.
  code += "  li t0, -1\n" + frep(5, 1) + "  fadd.d fa0, fa0, fa1\n  fcvt.w.d a2, fa0\n" + kKeep;
  checkPieces({{"sums", code, {60, 60 + 65536}}});
}

TEST_CASE("streams and loops together: a dot product of four accumulators", "[rtl][snitch]") {
  std::string code =
      "  li t0, 0x10000000\n  li t1, 0\n  li t2, 64\n"
      "0:fcvt.d.w fa0, t1\n  fsd fa0, 0(t0)\n  fsd fa0, 512(t0)\n"
      "  addi t0, t0, 8\n  addi t1, t1, 1\n  bne t1, t2, 0b\n";
  for (const char* acc : {"fa2", "fa3", "fa4", "fa5"}) {
    code += std::string("  fcvt.d.w ") + acc + ", x0\n";
  }
  code += kSynchronise;
  for (unsigned mover = 0; mover < 2; ++mover) {
    code += configure(mover, kRepeat, 0) + configure(mover, kBound, 63) +
            configure(mover, kStride, 8) + configure(mover, kRead, 0x10000000 + 512 * mover);
  }
  code += kStreamsOn + "  li t0, 63\n" + frep(5, 1, 3, 0b1001) + "  fmadd.d fa2, ft0, ft1, fa2\n" +
          kSynchronise + kStreamsOff;
  code +=
      "  fadd.d fa2, fa2, fa3\n  fadd.d fa4, fa4, fa5\n  fadd.d fa2, fa2, fa4\n"
      "  fcvt.w.d a2, fa2\n" +
      kKeep;
  checkPieces({{"dot", code, {63 * 64 * 127 / 6}}});
}

TEST_CASE("the switch of the streams acts in order", "[rtl][snitch]") {
  // Without any waiting: all is in the queue.
  const std::string code =
      "  li t0, 0x10000000\n  li t1, 7\n  fcvt.d.w fa0, t1\n  fsd fa0, 0(t0)\n"
      "  fsd fa0, 8(t0)\n  li t1, 1\n  fcvt.d.w ft0, t1\n  fmv.x.w t6, fa0\n  mv t6, t6\n" +
      configure(0, kRepeat, 0) + configure(0, kBound, 1) + configure(0, kStride, 8) +
      configure(0, kRead, 0x10000000) + "  fadd.d fa1, ft0, ft0\n  fadd.d fa1, fa1, ft0\n" +
      kStreamsOn + "  fadd.d fa2, ft0, ft0\n  fadd.d fa3, fa2, ft0\n" + kStreamsOff +
      "  fadd.d fa4, ft0, ft0\n  fcvt.w.d a2, fa1\n" + kKeep + "  fcvt.w.d a2, fa2\n" + kKeep +
      "  fcvt.w.d a2, fa3\n" + kKeep + "  fcvt.w.d a2, fa4\n" + kKeep + "  csrr a2, 0x7c0\n" +
      kKeep;
  checkPieces({{"switch", code, {3, 14, 21, 2, 0}}});
}

TEST_CASE("memory is in order between the two sides", "[rtl][snitch]") {
  const std::string zero =
      "  fcvt.d.w fa0, x0\n  li t0, 0x10000000\n  fsd fa0, 0(t0)\n"
      "  fsd fa0, 8(t0)\n";
  checkPieces(
      {{"FP store, integer load",
        zero + "  li t1, 5\n  fcvt.d.w fa1, t1\n" + std::string(4, ' ') +
            "fadd.d fa1, fa1, fa1\n  fadd.d fa1, fa1, fa1\n  fsd fa1, 0(t0)\n"
            "  lw a2, 4(t0)\n" +
            kKeep,
        {0x40340000}},
       {"integer store, FP load",
        zero + "  li t1, 0x40340000\n  sw t1, 4(t0)\n  fld fa1, 0(t0)\n  fcvt.w.d a2, fa1\n" +
            kKeep,
        {20}},
       {"FP load, integer store",
        zero +
            "  li t1, 0x40340000\n  sw t1, 4(t0)\n  fadd.d fa0, fa0, fa0\n"
            "  fadd.d fa0, fa0, fa0\n  fmv.d fa1, fa0\n  fld fa1, 0(t0)\n  sw x0, 4(t0)\n"
            "  fcvt.w.d a2, fa1\n" +
            kKeep,
        {20}},
       {"singles are boxed, and stored as they are",
        zero +
            "  li t1, 0x3f800000\n  sw t1, 0(t0)\n  flw fa1, 0(t0)\n  fsd fa1, 8(t0)\n"
            "  lw a2, 8(t0)\n" +
            kKeep + "  lw a2, 12(t0)\n" + kKeep +
            "  fcvt.d.w fa1, x0\n  fadd.s fa2, fa1, fa1\n  fmv.x.w a2, fa2\n" + kKeep +
            "  fsw fa1, 4(t0)\n  lw a2, 4(t0)\n" + kKeep,
        {0x3f800000, 0xffffffff, 0x7fc00000, 0}},
       {"halves and bytes",
        zero + "  li t1, 0x3c004000\n  sw t1, 0(t0)\n" +
            word(2U << 20 | 5U << 15 | 1U << 12 | 11U << 7 | 0x07) +  // flh fa1, 2(t0)
            "  fsd fa1, 8(t0)\n  lw a2, 8(t0)\n" + kKeep + "  lw a2, 12(t0)\n" + kKeep +
            word(11U << 20 | 5U << 15 | 0U << 12 | 3U << 7 | 0x27) +  // fsb fa1, 3(t0)
            "  lw a2, 0(t0)\n" + kKeep,
        {0xffff3c00, 0xffffffff, 0x00004000}}});
}

TEST_CASE("flags and rounding modes travel with operations", "[rtl][snitch]") {
  checkPieces(
      {{"inexact, then exact",
        load("fa0", 1.0) + load("fa1", 0x1p-60) +
            "  csrw fflags, x0\n  fadd.d fa2, fa0, fa0\n  csrr a2, fflags\n" + kKeep +
            "  fadd.d fa2, fa0, fa1\n  csrr a2, fflags\n" + kKeep + "  csrw fflags, x0\n",
        {0, 1}},
       {"invalid, of a comparison",
        load("fa0", std::nan("")) + "  csrw fflags, x0\n  flt.d a2, fa0, fa0\n" + kKeep +
            "  csrr a2, fflags\n" + kKeep + "  csrw fflags, x0\n",
        {0, 16}},
       {"the mode at the time",
        load("fa0", 1.0) + load("fa1", 0x1p-60) +
            "  csrwi frm, 3\n  fadd.d fa2, fa0, fa1\n  fadd.d fa3, fa0, fa1\n  csrwi frm, 2\n"
            "  fadd.d fa4, fa0, fa1\n  fsub.d fa5, fa0, fa1, rup\n  csrwi frm, 0\n"
            "  feq.d a2, fa2, fa0\n" +
            kKeep + "  feq.d a2, fa3, fa2\n" + kKeep + "  feq.d a2, fa4, fa0\n" + kKeep +
            "  feq.d a2, fa5, fa0\n" + kKeep + "  csrw fflags, x0\n",
        {0, 1, 1, 1}},
       {"packed, by fcsr and by the FP mode",
        "  li t0, 0x3fc03e00\n  fmv.w.x fa0, t0\n" +
            word(0x41U << 25 | 10U << 20 | 10U << 15 | 2U << 12 | 11U << 7 | 0x33) +
            "  fmv.x.w a2, fa1\n" + kKeep + "  csrwi 0x7c1, 1\n" +
            word(0x41U << 25 | 10U << 20 | 10U << 15 | 2U << 12 | 11U << 7 | 0x33) +
            "  csrwi 0x7c1, 0\n  fmv.x.w a2, fa1\n" + kKeep + "  csrw fflags, x0\n",
        {0x43c04200, 0x40403e80}}});
}
