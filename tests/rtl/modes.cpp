// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the Snitch models are used from outside: system calls, status, memory shared through a file,
// the log, the counts, the limit of cycles.
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include <catch2/catch.hpp>

#include "cluster.h"

namespace {

using rtl::Folder;
using rtl::Lines;
using rtl::Outcome;

const std::string kModel = std::string(DOJO_BINARY_DIR) + "/bin/dojo-snitch1-model";

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The program `text` alone, without what start.S does.
std::string bare(const Folder& folder, const std::string& text) {
  return rtl::build(
      folder,
      {folder.write("bare.S",
                    ".globl _start\n.option norelax\n.section .init, \"ax\"\n_start:\n" + text)},
      rtl::snitch());
}

const std::string kHost =
    "\n.data\n.balign 64\n.globl tohost\ntohost: .dword 0\n.balign 64\n.globl fromhost\n"
    "fromhost: .dword 0\n";

}  // namespace

TEST_CASE("a program writes by system calls and ends with its status") {
  if (!rtl::have(DOJO_CLANG)) return;
  const Folder folder;
  const std::string elf = bare(folder, R"(
    csrr a0, mhartid
    bnez a0, 9f
    li s0, 3
  1:la t0, block
    la t1, tohost
    sw t0, 0(t1)
    la t2, fromhost
  2:lw t3, 0(t2)
    beqz t3, 2b
    sw x0, 0(t2)
    la t0, block
    lw t3, 0(t0)        # what the call gave: how much was written
    li t4, 64
    sw t4, 0(t0)
    addi s0, s0, -1
    bnez s0, 1b
    slli t3, t3, 1
    ori t3, t3, 1
    sw t3, 0(t1)
  9:wfi
    j 9b
  .data
  .balign 64
  block: .dword 64, 1, text, 7, 0, 0, 0, 0
  text: .ascii "cluster"
  )" + kHost);
  const Outcome outcome = rtl::run(kModel + " --elf " + elf + " --max-cycles 1000000");
  CHECK(outcome.status == 7);
  CHECK(outcome.output == "clusterclustercluster");
}

TEST_CASE("a program that doesn't end is ended, with a status of its own") {
  if (!rtl::have(DOJO_CLANG)) return;
  const Folder folder;
  const std::string elf = bare(folder, "1:j 1b\n" + kHost);
  CHECK(rtl::run(kModel + " --elf " + elf + " --max-cycles 5000").status == 3);
  CHECK(rtl::run(kModel + " --elf " + folder.path("nothing") + " 2>/dev/null").status == 2);
  CHECK(rtl::run(kModel + " --memory /nowhere/at/all 2>/dev/null").status == 2);
}

TEST_CASE("memory is a file that others see: DRAM from its begin, the scratchpad behind it") {
  if (!rtl::have(DOJO_CLANG)) return;
  const Folder folder;
  const std::string elf = bare(folder, R"(
    csrr a0, mhartid
    bnez a0, 9f
    li t0, 0x10000040
    lw t1, 0(t0)        # from the file
    addi t1, t1, 1
    sw t1, 8(t0)
    li t2, 0x80300000
    sw t1, 0(t2)
    fence
    la t1, tohost
    li t3, 1
    sw t3, 0(t1)
  9:wfi
    j 9b
  )" + kHost);
  constexpr std::size_t kDram = 16 << 20;
  const std::string file = folder.path("memory");
  {
    std::string initial(kDram + (128 << 10), '\0');
    const std::uint32_t value = 0x01020304;
    std::memcpy(initial.data() + kDram + 0x40, &value, sizeof value);
    std::ofstream(file, std::ios::binary) << initial;
  }
  CHECK(rtl::run(kModel + " --memory " + file + " --elf " + elf + " --max-cycles 100000").status ==
        0);
  const std::string after = contents(file);
  REQUIRE(after.size() == kDram + (128 << 10));
  std::uint32_t seen = 0;
  std::memcpy(&seen, after.data() + kDram + 0x48, sizeof seen);
  CHECK(seen == 0x01020305);
  std::memcpy(&seen, after.data() + 0x300000, sizeof seen);
  CHECK(seen == 0x01020305);
}

TEST_CASE("the log tells what each hart did, the counts where its cycles went") {
  if (!rtl::have(DOJO_CLANG)) return;
  const Folder folder;
  const std::string elf = bare(folder, R"(
    csrr a0, mhartid
    bnez a0, 9f
    li a1, 0x123
    fcvt.d.w fa0, a1
    li a2, 100
  1:addi a2, a2, -1
    bnez a2, 1b
    la t1, tohost
    li t3, 1
    sw t3, 0(t1)
  9:wfi
    j 9b
  )" + kHost);
  const std::string log = folder.path("log");
  const std::string events = folder.path("events");
  REQUIRE(rtl::run(kModel + " --elf " + elf + " --max-cycles 100000 --log " + log + " --events " +
                   events)
              .status == 0);
  const std::string text = contents(log);
  CHECK(text.find(" 0 80000008 12300593  a1=00000123\n") != std::string::npos);
  CHECK(text.find(" 1 80000000 f1402573  a0=00000001\n") != std::string::npos);
  CHECK(text.find("  fp d2058553") != std::string::npos);
  CHECK(text.find("  fa0=4072300000000000") != std::string::npos);
  // Of the loop's branch: 100 times, each a cycle and a retired instruction.
  const std::string counts = contents(events);
  std::istringstream in(counts.substr(counts.find("\n0 80000018 ") + 1));
  std::string hart, pc;
  std::vector<long> columns;
  in >> hart >> pc;
  for (long column = 0; columns.size() < 15 && in >> column;) columns.push_back(column);
  REQUIRE(columns.size() == 15);
  CHECK(columns.front() >= 100);
  CHECK(columns.front() <= 120);
  CHECK(columns.back() == 100);
}
