// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random instructions on the models and on QEMU: every register, the flags and a stretch of memory
// must come out the same. What differs is made as short as it goes before it is reported.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "random_stream.h"
#include "support.h"

namespace {

using u32 = std::uint32_t;

/// What is compared: a machine, and where the memory of the streams lies there (empty: in the
/// program, as on QEMU).
struct Subject {
  const rtl::Machine& machine;
  rtl::StreamKinds kinds;
  std::string memory;
};

bool kept(int reg) { return reg == 0 || reg == 2 || reg == 8 || reg == 18; }

/// A stream as it is run: the values that it begins with, and its words.
struct Run {
  std::vector<std::string> begin;  ///< Assembly.
  std::vector<u32> words;
};

Run drawn(std::uint64_t seed, std::size_t count, rtl::StreamKinds kinds) {
  rtl::Stream stream(seed, kinds);
  Run out;
  out.begin.push_back("  li t2, " + std::to_string(stream.draw(0x7fffffff)) + "\n  call fill\n");
  for (int reg = 0; reg < 32; ++reg) {
    const std::string name = "f" + std::to_string(reg);
    std::string text = "  li t0, " + std::to_string(stream.value()) + "\n";
    if (kinds.doubles) {
      text += "  sw t0, 0(s2)\n  li t0, " + std::to_string(stream.upperValue()) +
              "\n  sw t0, 4(s2)\n  fld " + name + ", 0(s2)\n";
    } else {
      text += "  fmv.w.x " + name + ", t0\n";
    }
    out.begin.push_back(text);
  }
  out.begin.push_back("  csrwi fflags, 0\n  csrwi frm, " + std::to_string(stream.draw(5)) + "\n");
  for (int reg = 1; reg < 32; ++reg) {
    if (!kept(reg)) {
      out.begin.push_back("  li x" + std::to_string(reg) + ", " + std::to_string(stream.value()) +
                          "\n");
    }
  }
  out.words = stream.words(count);
  return out;
}

/// A stream as assembly: fills registers and memory, runs, and leaves its record at s0, or where
/// `hashed` only a hash of it.
std::string code(const Run& run, const Subject& subject, const std::string& memory, bool hashed) {
  // Two instructions in both cases: auipc gives the same.
  std::string out =
      memory.empty() ? "  la s2, scratch\n" : "  lui s2, " + memory + " >> 12\n  addi s2, s2, 0\n";
  for (const std::string& text : run.begin) out += text;
  for (const u32 word : run.words) out += "  .word 0x" + rtl::hex(word) + "\n";
  int at = 0;
  const auto next = [&at] { return std::to_string(4 * at++) + "(s0)\n"; };
  for (int reg = 1; reg < 32; ++reg) {
    if (!kept(reg)) out += "  sw x" + std::to_string(reg) + ", " + next();
  }
  for (int reg = 0; reg < 32; ++reg) {
    out += std::string(subject.kinds.doubles ? "  fsd" : "  fsw") + " f" + std::to_string(reg) +
           ", " + next();
    if (subject.kinds.doubles) ++at;
  }
  out += "  csrr t0, fcsr\n  sw t0, " + next();
  out += "  mv t1, s2\n  addi t3, t1, 2047\n  call hash\n  sw t2, " + next();
  if (hashed) {
    out += "  mv t1, s0\n  addi t3, s0, " + std::to_string(4 * at) +
           "\n  call hash\n  sw t2, 0(s0)\n  addi s0, s0, 8\n";
  } else {
    out += "  addi s0, s0, " + std::to_string(4 * at + 4 * (at % 2)) + "\n";
  }
  return out;
}

/// Puts values derived from t2 in the memory at s2; makes t2 a hash of the words from t1 to t3.
const std::string kRoutines = R"(
fill:
  mv t1, s2
  addi t3, t1, 2047
1:sw t2, 0(t1)
  slli t4, t2, 7
  xor t2, t2, t4
  srli t4, t2, 9
  xor t2, t2, t4
  addi t1, t1, 4
  bltu t1, t3, 1b
  ret
hash:
  li t2, 0
1:lw t0, 0(t1)
  slli t4, t2, 5
  srli t2, t2, 27
  or t2, t2, t4
  add t2, t2, t0
  slli t4, t2, 13
  xor t2, t2, t4
  addi t1, t1, 4
  bltu t1, t3, 1b
  ret
  .bss
  .balign 4096
scratch: .space 4096
  .text
)";

struct Outputs {
  std::vector<std::string> model, qemu;
};

Outputs outputs(const Subject& subject, const std::vector<Run>& runs, bool hashed) {
  const rtl::Folder folder;
  const auto source = [&](const std::string& name, const std::string& memory) {
    std::string body;
    for (const Run& run : runs) body += code(run, subject, memory, hashed);
    return folder.write(name, rtl::frame(body) + "\n.text\n" + kRoutines);
  };
  Outputs out;
  const std::string reference = source("qemu.S", {});
  out.qemu = rtl::lines(
      rtl::runOnQemu(rtl::buildForQemu(folder, {"start.S", reference}, subject.machine)));
  const std::string own = subject.memory.empty() ? reference : source("model.S", subject.memory);
  out.model = rtl::lines(
      rtl::runOnModel(rtl::build(folder, {"start.S", own}, subject.machine), subject.machine));
  return out;
}

bool differs(const Subject& subject, const Run& run) {
  const Outputs out = outputs(subject, {run}, false);
  return out.model != out.qemu;
}

/// Turns words into nops, in pieces of falling size, as long as the difference stays.
Run shrunk(const Subject& subject, Run run) {
  constexpr u32 kNop = 0x13;
  int tries = 0;
  for (std::size_t piece = run.words.size() / 2; piece != 0; piece /= 2) {
    for (std::size_t at = 0; at < run.words.size() && tries < 150; at += piece) {
      Run smaller = run;
      bool changes = false;
      for (std::size_t i = at; i < std::min(at + piece, run.words.size()); ++i) {
        changes = changes || smaller.words[i] != kNop;
        smaller.words[i] = kNop;
      }
      if (!changes) continue;
      ++tries;
      if (differs(subject, smaller)) run = std::move(smaller);
    }
  }
  return run;
}

std::string described(const Subject& subject, const Run& run) {
  const Outputs out = outputs(subject, {run}, false);
  std::string text = "words that differ:";
  for (std::size_t i = 0; i < std::min(out.model.size(), out.qemu.size()); ++i) {
    if (out.model[i] != out.qemu[i]) {
      text += "\n  " + std::to_string(i) + ": " + out.model[i] + " on the model, " + out.qemu[i];
    }
  }
  text += "\ninstructions:";
  for (std::size_t i = 0; i < run.words.size(); ++i) {
    if (run.words[i] != 0x13) text += "\n  " + std::to_string(i) + ": " + rtl::hex(run.words[i]);
  }
  text += "\nbegin:\n";
  for (const std::string& line : run.begin) text += line;
  return text;
}

void compare(const Subject& subject, std::uint64_t firstSeed, int streams, std::size_t count) {
  std::vector<Run> runs;
  for (int i = 0; i < streams; ++i) {
    runs.push_back(drawn(firstSeed + static_cast<std::uint64_t>(i), count, subject.kinds));
  }
  const Outputs out = outputs(subject, runs, true);
  REQUIRE(out.qemu.size() == 2 * runs.size());
  REQUIRE(out.model.size() == out.qemu.size());
  int reported = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (out.model[2 * i] == out.qemu[2 * i]) continue;
    if (++reported > 2) continue;
    INFO("stream " << firstSeed + i);
    INFO(described(subject, shrunk(subject, runs[i])));
    CHECK(out.model[2 * i] == out.qemu[2 * i]);
  }
  CHECK(reported == 0);
}

bool ready() { return rtl::have(DOJO_CLANG) && rtl::have("qemu-system-riscv32"); }

}  // namespace

TEST_CASE("random instructions end as they do on QEMU") {
  if (!ready()) return;
  const Subject subject = {rtl::rv32(), {}, {}};
  // Short ones find the place, long ones the rare pair.
  compare(subject, 1, 200, 12);
  compare(subject, 1000, 40, 300);
}

TEST_CASE("random instructions end on a hart of the Snitch cluster as they do on QEMU") {
  if (!ready()) return;
  const rtl::StreamKinds kinds = {.doubles = true, .divides = false};
  const Subject dram = {rtl::snitch(), kinds, {}};
  const Subject scratchpad = {rtl::snitch(), kinds, "0x10010000"};
  compare(dram, 1, 100, 12);
  compare(scratchpad, 2000, 200, 12);
  compare(scratchpad, 3000, 60, 300);
}
