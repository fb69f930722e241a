// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel that writes over the mailbox through which its own device is reached.
#include <array>
#include <cstdlib>

#include <catch2/catch.hpp>

#include "transport/device.h"

using namespace dojo;

TEST_CASE("A kernel that writes over the mailbox costs its own call alone") {
  if (std::system("command -v qemu-system-riscv32 >/dev/null 2>&1") != 0) {
    WARN("not tried: there is no qemu-system-riscv32");
    return;
  }
  target::Target target = target::load("rv32-jtag").value();
  target.runner.transport = "gdb";
  target.runner.command =
      "qemu-system-riscv32 -M virt -m 128M -bios none -display none -monitor none -serial none "
      "-kernel {runner} -S -chardev socket,id=g,path={dir}/g,server=on,wait=off -gdb chardev:g";
  target.runner.address = "unix:{dir}/g";
  auto transport =
      transport::make(target, DOJO_BINARY_DIR "/bin/dojo-runner-" + target.name + ".elf");
  REQUIRE(transport);
  auto opened = transport::Device::open(std::move(*transport), {.answerSeconds = 1});
  INFO((opened ? "" : opened.error().text()));
  REQUIRE(opened);
  transport::Device& device = **opened;
  const std::uint64_t code = device.hello().region("code")->base;
  transport::Call call{.nonce = 1, .entry = code, .tables = device.hello().region("data")->base};
  call.limitSeconds = 0.5;
  const auto run = [&](const std::array<std::uint32_t, 6>& words) {
    REQUIRE(device.write(code, std::as_bytes(std::span(words))));
    ++call.nonce;
    int samples = 0;
    auto done = device.call(call, [&](const transport::Sample&) {
      ++samples;
      return transport::Device::More::yes;
    });
    CHECK(samples <= 1);
    return done ? std::string("fine") : done.error().text();
  };
  constexpr std::uint32_t kReturn = 0x00008067;
  CHECK(run({kReturn}) == "fine");
  // lui t0, 0x80010; lui t1, 0x80012; sw zero, 0(t0); addi t0, t0, 4; bne t0, t1, -8; ret
  const std::string harm =
      run({0x800102b7, 0x80012337, 0x0002a023, 0x00428293, 0xfe629ce3, kReturn});
  INFO(harm);
  CHECK(harm != "fine");
  CHECK(run({kReturn}) == "fine");
}
