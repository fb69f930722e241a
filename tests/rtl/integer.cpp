// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every instruction of RV32IM and A on hard operands, against what this machine computes.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "support.h"

namespace {

using rtl::hex;
using rtl::kKeep;
using rtl::Piece;
using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;

const std::vector<u32>& operands() {
  static const std::vector<u32> all = {0,          1,          2,          0xffffffff, 0xfffffffe,
                                       0x7fffffff, 0x80000000, 0x80000001, 0x5555aaaa, 0x0000ffff,
                                       0xffff0000, 31,         32,         1000003,    0xdeadbeef};
  return all;
}

s32 asSigned(u32 value) { return static_cast<s32>(value); }

struct Binary {
  const char* name;
  std::function<u32(u32, u32)> value;
};

const std::vector<Binary>& binaries() {
  static const std::vector<Binary> all = {
      {"add", [](u32 a, u32 b) { return a + b; }},
      {"sub", [](u32 a, u32 b) { return a - b; }},
      {"sll", [](u32 a, u32 b) { return a << (b & 31); }},
      {"slt", [](u32 a, u32 b) { return u32(asSigned(a) < asSigned(b)); }},
      {"sltu", [](u32 a, u32 b) { return u32(a < b); }},
      {"xor", [](u32 a, u32 b) { return a ^ b; }},
      {"srl", [](u32 a, u32 b) { return a >> (b & 31); }},
      {"sra", [](u32 a, u32 b) { return u32(asSigned(a) >> (b & 31)); }},
      {"or", [](u32 a, u32 b) { return a | b; }},
      {"and", [](u32 a, u32 b) { return a & b; }},
      {"mul", [](u32 a, u32 b) { return a * b; }},
      {"mulh", [](u32 a, u32 b) { return u32(u64(s64(asSigned(a)) * s64(asSigned(b))) >> 32); }},
      {"mulhsu", [](u32 a, u32 b) { return u32(u64(s64(asSigned(a)) * s64(u64(b))) >> 32); }},
      {"mulhu", [](u32 a, u32 b) { return u32((u64(a) * b) >> 32); }},
      {"div",
       [](u32 a, u32 b) { return b == 0 ? ~u32(0) : u32(s64(asSigned(a)) / s64(asSigned(b))); }},
      {"divu", [](u32 a, u32 b) { return b == 0 ? ~u32(0) : a / b; }},
      {"rem", [](u32 a, u32 b) { return b == 0 ? a : u32(s64(asSigned(a)) % s64(asSigned(b))); }},
      {"remu", [](u32 a, u32 b) { return b == 0 ? a : a % b; }},
  };
  return all;
}

void checkAll(const std::vector<Piece>& pieces) {
  for (const rtl::Machine* machine : rtl::machines()) {
    rtl::check(pieces, {}, {"start.S"}, *machine);
  }
}

std::string li(const char* reg, u32 value) {
  return std::string("  li ") + reg + ", 0x" + hex(value) + "\n";
}

}  // namespace

TEST_CASE("register instructions give what this machine computes") {
  if (!rtl::have(DOJO_CLANG)) return;
  std::vector<Piece> pieces;
  for (const Binary& binary : binaries()) {
    for (const u32 a : operands()) {
      for (const u32 b : operands()) {
        pieces.push_back({std::string(binary.name) + " " + hex(a) + " " + hex(b),
                          li("a0", a) + li("a1", b) + "  " + binary.name + " a2, a0, a1\n" + kKeep,
                          {binary.value(a, b)}});
      }
    }
    // The destination is a source; nothing is ever written to x0.
    const u32 a = 0x12345678;
    const u32 b = 0x00000107;
    pieces.push_back({std::string(binary.name) + " into a source, into x0",
                      li("a2", a) + li("a1", b) + "  " + binary.name + " zero, a2, a1\n" + "  " +
                          binary.name + " a2, a2, a1\n  add a2, a2, zero\n" + kKeep,
                      {binary.value(a, b)}});
  }
  checkAll(pieces);
}

TEST_CASE("immediate instructions give what this machine computes") {
  if (!rtl::have(DOJO_CLANG)) return;
  std::vector<Piece> pieces;
  for (const Binary& binary : binaries()) {
    const std::string name = binary.name;
    const bool shift = name == "sll" || name == "srl" || name == "sra";
    if (name.starts_with("mul") || name.starts_with("div") || name.starts_with("rem")) continue;
    if (name == "sub") continue;
    const std::string immediate = name == "sltu" ? "sltiu" : name + "i";
    for (const u32 a : operands()) {
      for (const s32 b :
           shift ? std::vector<s32>{0, 1, 15, 31} : std::vector<s32>{0, 1, -1, 2047, -2048, 1365}) {
        pieces.push_back(
            {immediate + " " + hex(a) + " " + std::to_string(b),
             li("a0", a) + "  " + immediate + " a2, a0, " + std::to_string(b) + "\n" + kKeep,
             {binary.value(a, u32(b))}});
      }
    }
  }
  for (const u32 value : {0U, 1U, 0x80000U, 0xfffffU, 0x12345U}) {
    pieces.push_back({"lui", "  lui a2, 0x" + hex(value) + "\n" + kKeep, {value << 12}});
    pieces.push_back({"auipc",
                      "  auipc a2, 0x" + hex(value) + "\n  auipc a1, 0\n  sub a2, a2, a1\n" + kKeep,
                      {(value << 12) - 4}});
  }
  checkAll(pieces);
}

TEST_CASE("branches and jumps go where they should and link") {
  if (!rtl::have(DOJO_CLANG)) return;
  const std::vector<Binary> branches = {
      {"beq", [](u32 a, u32 b) { return u32(a == b); }},
      {"bne", [](u32 a, u32 b) { return u32(a != b); }},
      {"blt", [](u32 a, u32 b) { return u32(asSigned(a) < asSigned(b)); }},
      {"bge", [](u32 a, u32 b) { return u32(asSigned(a) >= asSigned(b)); }},
      {"bltu", [](u32 a, u32 b) { return u32(a < b); }},
      {"bgeu", [](u32 a, u32 b) { return u32(a >= b); }},
  };
  std::vector<Piece> pieces;
  for (const Binary& branch : branches) {
    for (const u32 a : operands()) {
      for (const u32 b : {u32(0), a, u32(0x80000000), u32(5)}) {
        pieces.push_back({std::string(branch.name) + " " + hex(a) + " " + hex(b),
                          li("a0", a) + li("a1", b) + "  li a2, 1\n  " + branch.name +
                              " a0, a1, 1f\n  li a2, 0\n1:\n" + kKeep,
                          {branch.value(a, b)}});
      }
    }
  }
  pieces.push_back({"a branch backwards",
                    "  li a2, 0\n  li a1, 5\n1:\n  addi a2, a2, 3\n  addi a1, a1, -1\n"
                    "  bnez a1, 1b\n" +
                        kKeep,
                    {15}});
  pieces.push_back({"jal links",
                    "  jal a1, 1f\n2:\n  li a2, 99\n1:\n  la a0, 2b\n  sub a2, a1, a0\n" + kKeep,
                    {0}});
  pieces.push_back({"jalr links, into its own base, and clears bit 0",
                    "  la a1, 1f + 1\n  jalr a1, 0(a1)\n2:\n  li a2, 99\n1:\n  la a0, 2b\n"
                    "  sub a2, a1, a0\n" +
                        kKeep,
                    {0}});
  pieces.push_back({"jalr with an offset",
                    "  la a1, 1f + 100\n  jalr zero, -100(a1)\n  nop\n1:\n  li a2, 7\n" + kKeep,
                    {7}});
  checkAll(pieces);
}

TEST_CASE("loads and stores reach every byte and half word of a word") {
  if (!rtl::have(DOJO_CLANG)) return;
  std::vector<Piece> pieces;
  const u32 word = 0x8192a3f4;
  for (int at = 0; at < 4; ++at) {
    const std::string place = std::to_string(at) + "(a3)\n";
    const u32 byte = word >> (8 * at) & 0xff;
    const std::string begin = "  la a3, results + 0x20000\n" + li("a0", word) + "  sw a0, 0(a3)\n";
    pieces.push_back({"lb", begin + "  lb a2, " + place + kKeep, {u32(s32(byte << 24) >> 24)}});
    pieces.push_back({"lbu", begin + "  lbu a2, " + place + kKeep, {byte}});
    const u32 mask = u32(0xff) << (8 * at);
    pieces.push_back(
        {"sb",
         begin + li("a1", 0x1234565a) + "  sb a1, " + place + "  lw a2, 0(a3)\n" + kKeep,
         {(word & ~mask) | (u32(0x5a) << (8 * at))}});
    if (at % 2 != 0) continue;
    const u32 half = word >> (8 * at) & 0xffff;
    const u32 wide = u32(0xffff) << (8 * at);
    pieces.push_back({"lh", begin + "  lh a2, " + place + kKeep, {u32(s32(half << 16) >> 16)}});
    pieces.push_back({"lhu", begin + "  lhu a2, " + place + kKeep, {half}});
    pieces.push_back(
        {"sh",
         begin + li("a1", 0x1234565a) + "  sh a1, " + place + "  lw a2, 0(a3)\n" + kKeep,
         {(word & ~wide) | (u32(0x565a) << (8 * at))}});
  }
  pieces.push_back({"code that was written runs after fence.i",
                    "  la a3, 1f\n" + li("a0", 0x02a00613) +  // li a2, 42
                        "  sw a0, 0(a3)\n  fence.i\n1:\n  li a2, 1\n" + kKeep,
                    {42}});
  checkAll(pieces);
}

TEST_CASE("atomics give the old value and store the new") {
  if (!rtl::have(DOJO_CLANG)) return;
  const std::vector<Binary> atomics = {
      {"amoswap.w", [](u32, u32 b) { return b; }},
      {"amoadd.w", [](u32 a, u32 b) { return a + b; }},
      {"amoxor.w", [](u32 a, u32 b) { return a ^ b; }},
      {"amoand.w", [](u32 a, u32 b) { return a & b; }},
      {"amoor.w", [](u32 a, u32 b) { return a | b; }},
      {"amomin.w", [](u32 a, u32 b) { return asSigned(a) < asSigned(b) ? a : b; }},
      {"amomax.w", [](u32 a, u32 b) { return asSigned(a) > asSigned(b) ? a : b; }},
      {"amominu.w", [](u32 a, u32 b) { return a < b ? a : b; }},
      {"amomaxu.w", [](u32 a, u32 b) { return a > b ? a : b; }},
  };
  std::vector<Piece> pieces;
  for (const Binary& atomic : atomics) {
    for (const u32 a : operands()) {
      for (const u32 b : {u32(0), u32(0x80000000), u32(77)}) {
        pieces.push_back({std::string(atomic.name) + " " + hex(a) + " " + hex(b),
                          "  la a3, results + 0x20000\n" + li("a0", a) + "  sw a0, 0(a3)\n" +
                              li("a1", b) + "  " + atomic.name + " a2, a1, (a3)\n" + kKeep +
                              "  lw a2, 0(a3)\n" + kKeep,
                          {a, atomic.value(a, b)}});
      }
    }
  }
  const std::string begin = "  la a3, results + 0x20000\n  li a0, 5\n  sw a0, 0(a3)\n";
  const std::string end = kKeep + "  lw a2, 0(a3)\n" + kKeep;
  pieces.push_back({"sc after lr stores",
                    begin + "  lr.w a0, (a3)\n  addi a0, a0, 1\n  sc.w a2, a0, (a3)\n" + end,
                    {0, 6}});
  pieces.push_back({"sc without lr doesn't, nor a second one",
                    begin + "  li a0, 9\n  sc.w a2, a0, (a3)\n" + end,
                    {1, 5}});
  pieces.push_back(
      {"sc of another place doesn't",
       begin + "  addi a1, a3, 8\n  lr.w a0, (a1)\n  li a0, 9\n  sc.w a2, a0, (a3)\n" + end,
       {1, 5}});
  checkAll(pieces);
}
