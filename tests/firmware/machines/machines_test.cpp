// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The firmware of every emulated target in its emulator: it boots, says what it is, calls kernels,
// and takes the next one after a kernel that faults or doesn't return.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include <catch2/catch.hpp>

#include "protocol/protocol.h"
#include "target/target.h"
#include "transport/device.h"

namespace dojo::transport {
namespace {

namespace fs = std::filesystem;

bool installed(const std::string& program) {
  std::istringstream path(std::getenv("PATH") == nullptr ? "" : std::getenv("PATH"));
  for (std::string folder; std::getline(path, folder, ':');) {
    std::error_code ignored;
    if (fs::exists(fs::path(folder) / program, ignored)) return true;
  }
  return false;
}

/// Instructions of a target, as bytes.
struct Machine {
  const char* target;
  std::vector<unsigned char> illegal, endless;
  std::uint64_t thumb = 0;
  bool exact = false;  ///< Counts instructions, the same each time.
};

const std::vector<unsigned char> kRiscvEndless = {0x6f, 0, 0, 0};
const std::vector<unsigned char> kArmEndless = {0xfe, 0xff, 0xff, 0xea};
const std::vector<unsigned char> kThumbEndless = {0xfe, 0xe7};
const std::vector<unsigned char> kA64Endless = {0, 0, 0, 0x14};

std::unique_ptr<Device> boot(const std::string& name) {
  auto target = target::load(name);
  INFO((target ? "" : target.error().text()));
  REQUIRE(target);
  const std::string emulator = target->runner.command.substr(0, target->runner.command.find(' '));
  if (!installed(emulator) || !fs::exists(builtRunner(*target))) {
    WARN(name << " is not tried: there is no " << emulator << ", or its runner isn't built");
    return nullptr;
  }
  auto transport = make(*target);
  REQUIRE(transport);
  auto device = Device::open(std::move(*transport), {.helloSeconds = 60, .answerSeconds = 60});
  INFO((device ? "" : device.error().text()));
  REQUIRE(device);
  return std::move(*device);
}

void tryMachine(const Machine& machine) {
  const std::unique_ptr<Device> device = boot(machine.target);
  if (!device) return;
  const Hello& hello = device->hello();
  const Region* code = hello.region("code");
  const Region* data = hello.region("data");
  REQUIRE(code != nullptr);
  REQUIRE(data != nullptr);
  CHECK(hello.region("stack") != nullptr);
  CHECK_FALSE(hello.isa.empty());
  CHECK(hello.counter(0) != nullptr);
  CHECK(hello.services.contains("dojo_parallel_for"));

  std::vector<std::byte> bytes(3000), back(bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7);
  REQUIRE(device->write(data->base + 3, bytes));
  REQUIRE(device->read(data->base + 3, back));
  CHECK(back == bytes);

  Call call{.nonce = 1, .tables = data->base};
  call.limitSeconds = 0.3;
  call.samples = 4;
  call.calls = 10;
  const auto run = [&](std::uint64_t entry) {
    std::vector<std::uint64_t> ticks;
    call.entry = entry;
    ++call.nonce;
    auto done = device->call(call, [&](const Sample& sample) {
      ticks.push_back(sample.ticks);
      return Device::More::yes;
    });
    return std::pair(std::move(done), std::move(ticks));
  };
  const auto runsEmpty = [&] {
    const auto [done, ticks] = run(hello.services.at("dojo_empty_kernel"));
    INFO((done ? "" : done.error().text()));
    CHECK(done);
    CHECK(ticks.size() == 4);
    if (machine.exact) {
      for (const std::uint64_t t : ticks) CHECK(t == ticks.front());
    }
  };
  runsEmpty();
  const auto place = [&](const std::vector<unsigned char>& kernel) {
    REQUIRE(device->write(code->base, std::as_bytes(std::span(kernel))));
    return code->base + machine.thumb;
  };
  const auto illegal = run(place(machine.illegal)).first;
  REQUIRE_FALSE(illegal);
  CHECK(illegal.error().code == "run.fault");
  CHECK(illegal.error().message.find("illegal") != std::string::npos);
  runsEmpty();
  const auto endless = run(place(machine.endless)).first;
  REQUIRE_FALSE(endless);
  CHECK(endless.error().code == "run.timeout");
  CHECK(device->statistics().recoveries == 0);  // the device's own timer stopped it
  runsEmpty();
  // A jump to nowhere.
  const auto lost = run(std::uint64_t{0xf0000000} + machine.thumb).first;
  REQUIRE_FALSE(lost);
  CHECK(lost.error().code == "run.fault");
  runsEmpty();
}

}  // namespace

TEST_CASE("qemu-rv64gcv") {
  tryMachine(
      {.target = "qemu-rv64gcv", .illegal = {0, 0, 0, 0}, .endless = kRiscvEndless, .exact = true});
}
TEST_CASE("qemu-rv64gcv of other vector lengths") {
  for (const char* name : {"qemu-rv64gcv-v128", "qemu-rv64gcv-v512", "qemu-rv64gcv-v1024"}) {
    const auto device = boot(name);
    if (!device) return;
    const std::string length = std::string(name).substr(std::strlen("qemu-rv64gcv-v"));
    CHECK(device->hello().isa.find(" v ") != std::string::npos);
    CHECK(device->hello().isa.ends_with("vlen=" + length));
  }
}
TEST_CASE("qemu-rv32") {
  tryMachine(
      {.target = "qemu-rv32", .illegal = {0, 0, 0, 0}, .endless = kRiscvEndless, .exact = true});
}
TEST_CASE("Kernels that harm their runner on qemu-rv32") {
  const auto device = boot("qemu-rv32");
  if (!device) return;
  const std::uint64_t code = device->hello().region("code")->base;
  std::uint64_t nonce = 1;
  const auto run = [&](const std::vector<std::uint32_t>& words) {
    REQUIRE(device->write(code, std::as_bytes(std::span(words))));
    Call call{.nonce = ++nonce, .entry = code, .tables = device->hello().region("data")->base};
    call.limitSeconds = 0.3;
    auto done = device->call(call, {});
    return done ? std::string("fine") : done.error().code + ": " + done.error().message;
  };
  constexpr std::uint32_t kReturn = 0x00008067;
  CHECK(run({kReturn}) == "fine");
  // addi sp, sp, -16
  CHECK(run({0xff010113, kReturn}).find("stack pointer moved") != std::string::npos);
  // csrci mstatus, 8: interrupts off, and the next one is stopped all the same
  CHECK(run({0x30047073, kReturn}) == "fine");
  CHECK(run({0x0000006f}).starts_with("run.timeout"));
  // csrw mtvec, zero
  CHECK(run({0x30501073, kReturn}) == "fine");
  CHECK(run({0}).find("illegal") != std::string::npos);
  // gp, tp and s0 to s11 are the kernel's: li gp, 0; li tp, 0; li s0, 0; li s1, 0
  CHECK(run({0x00000193, 0x00000213, 0x00000413, 0x00000493, kReturn}) == "fine");
  CHECK(device->statistics().recoveries == 0);
  // lui t0, 0x80800; sw zero, 0(t0): the canary at the end of the stack
  CHECK(run({0x808002b7, 0x0002a023, kReturn}).find("canary") != std::string::npos);
  CHECK(run({kReturn}) == "fine");
  // lui t0, 0x80000; sw zero, 0x100(t0): the runner's code
  CHECK(run({0x800002b7, 0x1002a023, kReturn}).starts_with("run.crash"));
  CHECK(run({kReturn}) == "fine");
  CHECK(device->statistics().recoveries == 2);
}
TEST_CASE("qemu-rv32 through a mailbox") {
  tryMachine({.target = "qemu-rv32-gdb",
              .illegal = {0, 0, 0, 0},
              .endless = kRiscvEndless,
              .exact = true});
}
TEST_CASE("cortex-m4") {
  tryMachine({.target = "cortex-m4", .illegal = {0, 0xde}, .endless = kThumbEndless, .thumb = 1});
}
TEST_CASE("cortex-m7") {
  tryMachine({.target = "cortex-m7", .illegal = {0, 0xde}, .endless = kThumbEndless, .thumb = 1});
}
TEST_CASE("cortex-m33") {
  tryMachine({.target = "cortex-m33", .illegal = {0, 0xde}, .endless = kThumbEndless, .thumb = 1});
}
TEST_CASE("cortex-m55") {
  tryMachine({.target = "cortex-m55", .illegal = {0, 0xde}, .endless = kThumbEndless, .thumb = 1});
}
TEST_CASE("aarch64-virt") {
  tryMachine(
      {.target = "aarch64-virt", .illegal = {0, 0, 0, 0}, .endless = kA64Endless, .exact = true});
}
TEST_CASE("riscv64-linux") {
  tryMachine({.target = "riscv64-linux", .illegal = {0, 0, 0, 0}, .endless = kRiscvEndless});
}
TEST_CASE("aarch64-linux") {
  tryMachine({.target = "aarch64-linux", .illegal = {0, 0, 0, 0}, .endless = kA64Endless});
}
TEST_CASE("armv7-linux") {
  tryMachine({.target = "armv7-linux", .illegal = {0xf0, 0, 0xf0, 0xe7}, .endless = kArmEndless});
}

}  // namespace dojo::transport
