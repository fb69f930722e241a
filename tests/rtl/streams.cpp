// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Streams of the cluster: addresses in all dimensions, repetition, indirection, writing, what is
// set up while a stream runs.
#include <array>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "fp_side.h"
#include "support.h"

namespace {

using namespace rtl;

constexpr std::uint32_t kData = 0x10000000;
constexpr int kElements = 4096;  ///< Element i is the number i.

/// Fills the data.
const std::string kFill =
    "  li t0, 0x10000000\n  li t1, 0\n  li t2, 4096\n"
    "0:fcvt.d.w ft3, t1\n  fsd ft3, 0(t0)\n  addi t0, t0, 8\n"
    "  addi t1, t1, 1\n  bne t1, t2, 0b\n  fcvt.d.w ft11, x0\n";

struct Stream {
  int dims = 1;
  std::array<int, 4> bound{1, 1, 1, 1};  ///< Elements.
  std::array<int, 4> step{1, 0, 0, 0};   ///< In elements, of the index of this dimension.
  int first = 0;
  int repeat = 1;
};

/// Numbers of the elements, in order.
std::vector<int> elements(const Stream& stream) {
  std::vector<int> out;
  std::array<int, 4> i{};
  for (;;) {
    int at = stream.first;
    for (int d = 0; d < stream.dims; ++d) {
      at += i[static_cast<std::size_t>(d)] * stream.step[static_cast<std::size_t>(d)];
    }
    for (int r = 0; r < stream.repeat; ++r) out.push_back(at);
    int d = 0;
    for (; d < stream.dims; ++d) {
      auto& index = i[static_cast<std::size_t>(d)];
      if (++index < stream.bound[static_cast<std::size_t>(d)]) break;
      index = 0;
    }
    if (d == stream.dims) return out;
  }
}

std::string setUp(unsigned mover, const Stream& stream, bool write = false) {
  std::string out = configure(mover, kRepeat, stream.repeat - 1);
  int within = 0;  // Where the inner dimensions end.
  for (int d = 0; d < stream.dims; ++d) {
    const auto at = static_cast<std::size_t>(d);
    const auto number = static_cast<unsigned>(d);
    out += configure(mover, kBound + number, stream.bound[at] - 1);
    out += configure(mover, kStride + number, 8 * (stream.step[at] - within));
    within += stream.step[at] * (stream.bound[at] - 1);
  }
  const auto dims = static_cast<unsigned>(stream.dims);
  return out + configure(mover, (write ? kWrite : kRead) + dims - 1, kData + 8 * stream.first);
}

Stream random(std::mt19937& generator, int least, int most) {
  Stream out;
  out.dims = least + static_cast<int>(generator() % static_cast<unsigned>(most - least + 1));
  for (int d = 0; d < out.dims; ++d) {
    const auto at = static_cast<std::size_t>(d);
    out.bound[at] = 1 + static_cast<int>(generator() % 5);
    out.step[at] = static_cast<int>(generator() % 101) - 50;
  }
  out.first = 1500 + static_cast<int>(generator() % 1000);
  if (out.dims < 3) out.repeat = 1 + static_cast<int>(generator() % 16);
  return out;
}

/// Stores the numbers of the next `count` elements that `take` puts into fa0.
std::string keep(const std::string& take, std::size_t count) {
  return "  li s1, " + std::to_string(count) + "\n0:" + take + "  fcvt.w.d a2, fa0\n" + kKeep +
         "  addi s1, s1, -1\n  bnez s1, 0b\n";
}

Piece reads(const std::string& what, unsigned mover, const Stream& stream) {
  const std::string reg = "ft" + std::to_string(mover);
  const std::vector<int> order = elements(stream);
  return {what,
          setUp(mover, stream) + kStreamsOn +
              keep("  fsgnj.d fa0, " + reg + ", " + reg + "\n", order.size()) + kStreamsOff,
          {order.begin(), order.end()}};
}

void checkStreams(const std::vector<Piece>& pieces) {
  if (!have(DOJO_CLANG)) return;
  std::vector<Piece> all{{"fill", kFill, {}}};
  all.insert(all.end(), pieces.begin(), pieces.end());
  rtl::check(all, {}, {"start.S"}, snitch());
}

}  // namespace

TEST_CASE("a stream's register gives the elements of its loops in order", "[rtl][snitch]") {
  std::mt19937 generator(1);
  std::vector<Piece> pieces;
  for (unsigned i = 0; i < 24; ++i) {
    const Stream stream =
        random(generator, 1 + static_cast<int>(i % 4), 1 + static_cast<int>(i % 4));
    pieces.push_back(reads("stream " + std::to_string(i), i % 3, stream));
  }
  checkStreams(pieces);
}

TEST_CASE("one instruction takes an element of each stream that it names, once", "[rtl][snitch]") {
  const Stream three{1, {6}, {3}, 100, 1};
  const Stream five{1, {6}, {5}, 200, 1};
  const Stream seven{1, {6}, {7}, 300, 1};
  std::vector<std::uint32_t> products, squares;
  for (std::uint32_t i = 0; i < 6; ++i) {
    products.push_back((100 + 3 * i) * (200 + 5 * i) + 300 + 7 * i);
    squares.push_back((100 + 3 * i) * (100 + 3 * i));
  }
  checkStreams({{"three streams",
                 setUp(0, three) + setUp(1, five) + setUp(2, seven) + kStreamsOn +
                     keep("  fmadd.d fa0, ft0, ft1, ft2\n", 6) + kStreamsOff,
                 products},
                {"one twice",
                 setUp(0, three) + kStreamsOn + keep("  fmul.d fa0, ft0, ft0\n", 6) + kStreamsOff,
                 squares}});
}

TEST_CASE("written elements arrive where the loops say", "[rtl][snitch]") {
  std::mt19937 generator(2);
  std::vector<Piece> pieces;
  for (unsigned i = 0; i < 12; ++i) {
    Stream stream = random(generator, 1, 4);
    stream.repeat = 1;
    const std::vector<int> order = elements(stream);
    std::vector<int> memory(kElements);
    for (int n = 0; n < kElements; ++n) memory[static_cast<std::size_t>(n)] = n;
    int value = 5000;
    for (const int at : order) memory[static_cast<std::size_t>(at)] = value++;
    const std::string reg = "ft" + std::to_string(i % 3);
    Piece piece{"write " + std::to_string(i),
                setUp(i % 3, stream, true) + kStreamsOn + "  li a3, 5000\n  li s1, " +
                    std::to_string(order.size()) + "\n0:fcvt.d.w " + reg +
                    ", a3\n  addi a3, a3, 1\n  addi s1, s1, -1\n  bnez s1, 0b\n" + kSynchronise +
                    kStreamsOff + "  nop\n  nop\n  nop\n  nop\n  nop\n  nop\n",
                {}};
    for (const int at : order) {
      piece.code += "  li t0, " + std::to_string(kData + 8 * static_cast<std::uint32_t>(at)) +
                    "\n  fld fa0, 0(t0)\n  fcvt.w.d a2, fa0\n" + kKeep;
      piece.words.push_back(static_cast<std::uint32_t>(memory[static_cast<std::size_t>(at)]));
    }
    piece.code += kFill;
    pieces.push_back(piece);
  }
  checkStreams(pieces);
}

TEST_CASE("indices of 8, 16 and 32 bits choose the elements", "[rtl][snitch]") {
  std::mt19937 generator(3);
  std::vector<Piece> pieces;
  for (unsigned i = 0; i < 24; ++i) {
    const unsigned size = i % 3;  // log2 of bytes
    const unsigned shift = i / 3 % 3;
    const unsigned mover = i % 2;
    const unsigned count = 1 + static_cast<unsigned>(generator() % 40);
    const unsigned start = static_cast<unsigned>(generator() % 8) << size & 7;
    // Indices behind the data, stored a piece at a time.
    std::string code = "  li t0, " + std::to_string(0x10010000 + start) + "\n";
    const char* const kStore[] = {"sb", "sh", "sw"};
    std::vector<std::uint32_t> words;
    for (unsigned n = 0; n < count; ++n) {
      const unsigned index = static_cast<unsigned>(generator()) % (size == 0 ? 256 : 800);
      code += "  li t1, " + std::to_string(index) + "\n  " + kStore[size] + " t1, " +
              std::to_string(n << size) + "(t0)\n";
      words.push_back(10 + (index << shift));
    }
    code += "  lbu t1, 0(t0)\n  mv t1, t1\n";  // What was stored is there.
    const std::string reg = "ft" + std::to_string(mover);
    code += configure(mover, kRepeat, 0) + configure(mover, kIndexBase, kData + 80) +
            configure(mover, kIndexKind, size | shift << 8) + configure(mover, kBound, count - 1) +
            configure(mover, kIndirectRead, 0x10010000 + start) + kStreamsOn +
            keep("  fsgnj.d fa0, " + reg + ", " + reg + "\n", count) + kStreamsOff;
    pieces.push_back({"indices " + std::to_string(i), code, words});
  }
  // Scattered writes.
  pieces.push_back({"scatter",
                    "  li t0, 0x10010000\n  li t1, 0x00050002\n  sw t1, 0(t0)\n"
                    "  li t1, 0x00070003\n  sw t1, 4(t0)\n  lw t1, 4(t0)\n  mv t1, t1\n" +
                        configure(1, kIndexBase, kData) + configure(1, kIndexKind, 1) +
                        configure(1, kBound, 3) + configure(1, kIndirectWrite, 0x10010000) +
                        kStreamsOn +
                        "  li a3, 71\n  fcvt.d.w ft1, a3\n  li a3, 72\n  fcvt.d.w ft1, a3\n"
                        "  li a3, 73\n  fcvt.d.w ft1, a3\n  li a3, 74\n  fcvt.d.w ft1, a3\n" +
                        kSynchronise + kStreamsOff +
                        "  nop\n  nop\n  nop\n  nop\n  nop\n  nop\n  li t0, 0x10000000\n"
                        "  fld fa0, 16(t0)\n  fcvt.w.d a2, fa0\n" +
                        kKeep + "  fld fa0, 40(t0)\n  fcvt.w.d a2, fa0\n" + kKeep +
                        "  fld fa0, 24(t0)\n  fcvt.w.d a2, fa0\n" + kKeep +
                        "  fld fa0, 56(t0)\n  fcvt.w.d a2, fa0\n" + kKeep,
                    {71, 72, 73, 74}});
  checkStreams(pieces);
}

TEST_CASE("the next stream is set up while one runs, and begins behind it", "[rtl][snitch]") {
  std::mt19937 generator(4);
  std::vector<Piece> pieces;
  for (unsigned i = 0; i < 12; ++i) {
    std::vector<Stream> streams;
    std::vector<std::uint32_t> words;
    const unsigned mover = i % 3;
    for (int n = 0; n < 4; ++n) {
      Stream stream = random(generator, 1, 3);
      stream.repeat = 1 + static_cast<int>(i % 2);
      for (const int at : elements(stream)) words.push_back(static_cast<std::uint32_t>(at));
      streams.push_back(stream);
    }
    const std::string reg = "ft" + std::to_string(mover);
    const std::string take = "  fsgnj.d fa0, " + reg + ", " + reg + "\n";
    // Two are set up at once; each of the others as soon as the one before the last is used up.
    std::string code = setUp(mover, streams[0]) + setUp(mover, streams[1]) + kStreamsOn;
    code += keep(take, elements(streams[0]).size()) + setUp(mover, streams[2]);
    code += keep(take, elements(streams[1]).size()) + setUp(mover, streams[3]);
    code += keep(take, elements(streams[2]).size()) + keep(take, elements(streams[3]).size());
    pieces.push_back({"sequence " + std::to_string(i), code + kStreamsOff, words});
  }
  checkStreams(pieces);
}

TEST_CASE("a mover's registers can be read back", "[rtl][snitch]") {
  const std::string value = "  li t3, 0x1234\n";
  checkStreams(
      {{"by number",
        configure(1, kStride + 2, 0x128) + scfgri(1, kStride + 2, 12) + kKeep,
        {0x128}},
       {"by address",
        "  li t4, " + std::to_string((kBound + 1) << 5 | 2) + "\n" + value + scfgw(29, 28) +
            scfgr(29, 12) + kKeep,
        {0x1234}},
       {"all movers",
        configure(31, kStride + 3, 0x440) + scfgri(0, kStride + 3, 12) + kKeep +
            scfgri(2, kStride + 3, 12) + kKeep,
        {0x440, 0x440}},
       {"done, where nothing runs", scfgri(0, kStatus, 12) + "  srli a2, a2, 31\n" + kKeep, {1}},
       {"not done, while elements are missing",
        setUp(0, {2, {9, 5}, {1, 9}, 0, 1}) + scfgri(0, kStatus, 12) + "  srli a2, a2, 28\n" +
            kKeep + kStreamsOn + keep("  fadd.d fa0, ft0, ft11\n", 45) + kStreamsOff +
            scfgri(0, kStatus, 12) + "  srli a2, a2, 28\n" + kKeep,
        [] {
          std::vector<std::uint32_t> words{1};
          for (std::uint32_t i = 0; i < 45; ++i) words.push_back(i);
          words.push_back(9);
          return words;
        }()}});
}
