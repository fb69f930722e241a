// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every way of reaching a device, on emulated ones: trials, hangs, crashes, deaths.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tune/faults.h"

using namespace dojo;

namespace {

const std::string kQemu64 =
    "qemu-system-riscv64 -M virt -cpu rv64,v=true,vlen=256,vext_spec=v1.0 -m 128M -bios none "
    "-icount shift=0 -display none -monitor none -kernel {runner} ";
const std::string kQemu32 =
    "qemu-system-riscv32 -M virt -m 128M -bios none -display none -monitor none -serial none ";

std::string image(const std::string& name) {
  return DOJO_BINARY_DIR "/bin/dojo-runner-" + name + ".elf";
}

target::Target emulated(const std::string& transport, const std::string& command) {
  target::Target target = target::load("qemu-rv64gcv-serial").value();
  target.runner.transport = transport;
  target.runner.command = kQemu64 + command;
  return target;
}

tune::FaultReport check(const target::Target& target, tune::FaultOptions options) {
  if (options.runnerPath.empty()) options.runnerPath = image(target.name);
  options.retrySeconds = 0.2;
  auto report = tune::checkFaults(target, options);
  INFO(target.runner.transport << ' ' << target.runner.command);
  INFO((report ? "" : report.error().text()));
  REQUIRE(report);
  for (const std::string& wrong : report->wrong) UNSCOPED_INFO(wrong);
  CHECK(report->wrongTrials == 0);
  CHECK(report->trials == options.trials);
  UNSCOPED_INFO(fmt::format(
      "{}: {} trials in {:.2f} s, {} samples, {} frames, {} bytes out, {} in, {} retries",
      target.runner.transport, report->trials, report->seconds, report->samples,
      report->link.framesSent, report->link.bytesSent, report->link.bytesReceived,
      report->link.retries));
  return *report;
}

tune::FaultOptions few() {
  tune::FaultOptions options;
  options.trials = 60;
  options.hangs = 2;
  options.crashes = 2;
  options.deaths = 1;
  return options;
}

}  // namespace

TEST_CASE("Standard streams of an emulated board") {
  check(target::load("qemu-rv64gcv").value(), few());
  check(emulated("command", "-serial stdio"), few());
}

TEST_CASE("A serial line: a pseudo-terminal joined to an emulated UART") {
  target::Target target = emulated("serial", "-serial pty");
  target.runner.device = "{pty}";
  check(target, few());
}

TEST_CASE("A socket: an emulated UART behind a Unix socket") {
  target::Target target =
      emulated("socket", "-chardev socket,id=c,path={dir}/c,server=on,wait=off -serial chardev:c");
  target.runner.address = "unix:{dir}/c";
  check(target, few());
}

TEST_CASE("A GDB server: the mailbox of an emulated board") {
  target::Target target = target::load("rv32-jtag").value();
  target.runner.transport = "gdb";
  const bool loaded = GENERATE(true, false);
  target.runner.command = kQemu32 + (loaded ? "-kernel {runner} " : "") +
                          "-S -chardev socket,id=g,path={dir}/g,server=on,wait=off -gdb chardev:g";
  target.runner.address = "unix:{dir}/g";
  check(target, few());
}

TEST_CASE("Images that are loaded, run and read: an emulated board without any other way in") {
  const target::Target target = target::load("qemu-rv64gcv-batch").value();
  tune::FaultOptions options;
  options.trials = 8;
  options.hangs = options.crashes = 1;
  options.deaths = 0;
  check(target, options);
}
