// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The debug module in front of all harts of the cluster, through OpenOCD.
#include <string>

#include <catch2/catch.hpp>

#include "cluster.h"

namespace {

using rtl::Lines;

Lines session(const std::string& model, const std::string& options, int harts,
              const std::string& script) {
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
      std::string(DOJO_BINARY_DIR "/bin/") + model + " --once --jtag unix:" + socket + " " +
          options + " >/dev/null 2>&1 & for i in 1 2 3 4 5 6 7 8 9 10; do test -S " + socket +
          " || sleep 0.2; done; openocd -c \"set REMOTE " + socket + "; set HARTS " +
          std::to_string(harts) + "\" -f " DOJO_SOURCE_DIR "/targets/rtl/snitch-jtag.cfg -f " +
          file + " 2>&1; wait",
      240);
  Lines out;
  for (const std::string& line : rtl::lines(outcome.output)) {
    if (line.starts_with("say: ")) out.push_back(line.substr(5));
  }
  INFO(outcome.output);
  CHECK(outcome.status == 0);
  REQUIRE_FALSE(out.empty());
  return out;
}

}  // namespace

TEST_CASE("OpenOCD sees nine harts, each with registers of its own, and the memories they share") {
  if (!rtl::have("openocd")) return;
  CHECK(session("dojo-snitch-model", "", 9, R"(
    set numbers {}
    foreach hart {0 1 2 3 4 5 6 7 8} {
      targets snitch.cpu$hart
      halt
      lappend numbers [expr {[reg_of mhartid] + 0}]
      set_reg [list s1 [expr {100 + $hart}]]
    }
    say $numbers
    set values {}
    foreach hart {0 1 2 3 4 5 6 7 8} {
      targets snitch.cpu$hart
      lappend values [expr {[reg_of s1] + 0}]
    }
    say $values
    write_memory 0x10000100 32 {0x11223344 0x55667788}
    write_memory 0x80200004 32 {0xcafe}
    say [read_memory 0x10000100 32 2] [read_memory 0x80200004 32 1] [read_memory 0x10020000 32 1]
    say [catch {read_memory 0x40000000 32 1}]
  )") == Lines{"0 1 2 3 4 5 6 7 8", "100 101 102 103 104 105 106 107 108",
               "0x11223344 0x55667788 0xcafe 0x297", "1"});
}

TEST_CASE("harts are started from the boot ROM, halted and resumed one by one") {
  if (!rtl::have("openocd")) return;
  // Each hart counts in a word of its own: 0x10000400 + 4 * mhartid.
  CHECK(session("dojo-snitch1-model", "", 2, R"(
    write_memory 0x80000000 32 {0xf1402573 0x00251513 0x100005b7 0x40058593 0x00a585b3}
    write_memory 0x80000014 32 {0x00160613 0x00c5a023 0xff9ff06f}
    write_memory 0x10021188 32 {0x80000000}
    write_memory 0x100211a0 32 {3}
    sleep 50
    say [expr {[read_memory 0x10000400 32 1] > 10}] [expr {[read_memory 0x10000404 32 1] > 10}]
    targets snitch.cpu1
    halt
    set first [read_memory 0x10000404 32 1]
    set other [read_memory 0x10000400 32 1]
    sleep 20
    say [expr {[read_memory 0x10000404 32 1] == $first}] [expr {[read_memory 0x10000400 32 1] > $other}]
    resume
    sleep 20
    say [expr {[read_memory 0x10000404 32 1] > $first}]
  )") == Lines{"1 1", "1 1", "1"});
}
