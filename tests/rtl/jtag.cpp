// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The debug module through OpenOCD's remote_bitbang adapter: what a person does with a board.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "support.h"

namespace {

using Lines = std::vector<std::string>;

const std::string kModel = std::string(DOJO_BINARY_DIR) + "/bin/dojo-rv32-model";

/// Starts the model with `options`, runs OpenOCD's `script` on it, and returns what the script
/// printed by `say` and then what the model's console printed.
Lines session(const std::string& options, const std::string& script) {
  const rtl::Folder folder;
  const std::string file =
      folder.write("script.tcl",
                   "gdb_port disabled\ntelnet_port disabled\ntcl_port disabled\n"
                   "proc say {args} { echo \"say: [join $args]\" }\n"
                   "proc reg_of {name} { return [dict get [get_reg -force $name] $name] }\n"
                   "if {[catch {\n init\n" +
                       script + "\n} problem]} { say failed $problem }\nshutdown\n");
  const std::string socket = folder.path("jtag");
  const rtl::Outcome outcome = rtl::run(
      kModel + " --once --jtag unix:" + socket + " " + options + " >" + folder.path("console") +
          " 2>/dev/null & for i in 1 2 3 4 5 6 7 8 9 10; do test -S " + socket +
          " || sleep 0.2; done; openocd -c \"set REMOTE " + socket +
          "\" -f " DOJO_SOURCE_DIR "/targets/rtl/rv32-jtag.cfg -f " + file +
          " 2>&1; wait; sed \"s/^/console: /\" " + folder.path("console"),
      120);
  Lines out;
  for (const std::string& line : rtl::lines(outcome.output)) {
    if (line.starts_with("say: ")) out.push_back(line.substr(5));
    if (line.starts_with("console: ")) out.push_back(line);
  }
  INFO(outcome.output);
  CHECK(outcome.status == 0);
  REQUIRE_FALSE(out.empty());
  return out;
}

/// A loop that counts in the word at 0x80001000.
const std::string kCounter = R"(
  halt
  write_memory 0x80000000 32 {0x80001537 0x00052583 0x00158593 0x00b52023 0xff5ff06f}
  reg pc 0x80000000
)";

}  // namespace

TEST_CASE("OpenOCD examines the hart") {
  if (!rtl::have("openocd")) return;
  CHECK(session("",
                "halt\n"
                "say [rv32.cpu curstate]\n"
                "say [reg_of misa] [reg_of mhartid] [reg_of dcsr]\n"
                "say [catch {get_reg satp}]") ==
        Lines{"halted", "0x40001121 0x00000000 0x400004c3", "1"});
}

TEST_CASE("OpenOCD writes and reads registers of every kind") {
  if (!rtl::have("openocd")) return;
  CHECK(session("", R"(
    halt
    foreach name {ra sp s11 ft0 fa5 mscratch mepc fcsr dscratch0 pc} {
      set_reg [list $name 0x12345674]
    }
    foreach name {ra sp s11 ft0 fa5 mscratch mepc fcsr dscratch0 pc zero} {
      say $name [reg_of $name]
    }
    say [catch {set_reg {mhartid 1}}]
  )") == Lines{"ra 0x12345674", "sp 0x12345674", "s11 0x12345674", "ft0 0x12345674",
               "fa5 0x12345674", "mscratch 0x12345674", "mepc 0x12345674", "fcsr 0x00000074",
               "dscratch0 0x12345674", "pc 0x12345674", "zero 0x00000000", "1"});
}

TEST_CASE("OpenOCD halts, steps and resumes") {
  if (!rtl::have("openocd")) return;
  CHECK(session("", kCounter + R"(
    say [reg_of pc]
    step
    say [reg_of pc] [reg_of a0]
    step
    step
    say [reg_of pc] [expr {[reg_of a1] & 0xff}]
    write_memory 0x80001000 32 {0}
    resume
    sleep 50
    halt
    say [expr {[read_memory 0x80001000 32 1] > 100}]
    say [expr {([reg_of dcsr] >> 6) & 7}]
  )") == Lines{"0x80000000", "0x80000004 0x80001000", "0x8000000c 1", "1", "3"});
}

TEST_CASE("memory is reached while the hart runs") {
  if (!rtl::have("openocd")) return;
  CHECK(session("", kCounter + R"(
    resume
    write_memory 0x80002000 32 {0x11223344 0x55667788}
    write_memory 0x80002001 8 {0xab}
    write_memory 0x80002006 16 {0xcdef}
    say [read_memory 0x80002000 32 2]
    say [read_memory 0x80002004 16 2] [read_memory 0x80002003 8 1]
    set first [read_memory 0x80001000 32 1]
    sleep 20
    set second [read_memory 0x80001000 32 1]
    say [expr {$second != $first}] [rv32.cpu curstate]
    say [catch {read_memory 0x40000000 32 1}]
    say [read_memory 0x80002000 32 1]
  )") == Lines{"0x1122ab44 0xcdef7788", "0x7788 0xcdef 0x11", "1 running", "1", "0x1122ab44"});
}

TEST_CASE("a software breakpoint halts and is stepped over") {
  if (!rtl::have("openocd")) return;
  CHECK(session("", kCounter + R"(
    bp 0x8000000c 4
    resume
    wait_halt 1000
    say [reg_of pc] [expr {([reg_of dcsr] >> 6) & 7}]
    resume
    wait_halt 1000
    say [reg_of pc]
    rbp 0x8000000c
    resume
    sleep 10
    say [rv32.cpu curstate]
  )") == Lines{"0x8000000c 1", "0x8000000c", "running"});
}

TEST_CASE("reset halts before the first instruction, and runs") {
  if (!rtl::have("openocd")) return;
  CHECK(session("", kCounter + R"(
    resume
    sleep 10
    reset halt
    say [reg_of pc] [reg_of mcause] [reg_of mcycle] [reg_of minstret]
    write_memory 0x80001000 32 {0}
    reset run
    sleep 20
    say [rv32.cpu curstate] [expr {[read_memory 0x80001000 32 1] > 10}]
  )") == Lines{"0x80000000 0x00000000 0x00000002 0x00000000", "running 1"});
}

TEST_CASE("a program loaded by OpenOCD runs to its end") {
  if (!rtl::have("openocd") || !rtl::have(DOJO_CLANG)) return;
  const rtl::Folder folder;
  const std::string elf = rtl::build(
      folder, {"start.S", folder.write("test.S", rtl::frame("  li a2, 0x600d\n" + rtl::kKeep))});
  CHECK(session("", "halt\nload_image " + elf + "\nverify_image " + elf + R"(
    resume 0x80000000
    sleep 100
    say [rv32.cpu curstate]
  )") == Lines{"running", "console: 0000600d"});
}
