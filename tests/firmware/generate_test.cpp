// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a description's firmware is built from.
#include "generate/generate.h"

#include <algorithm>

#include <catch2/catch.hpp>

namespace dojo::generate {
namespace {

target::Target emulated() { return target::load("qemu-rv32").value(); }

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void refuses(const target::Target& target, const std::string& what) {
  const auto files = firmwareFiles(target);
  REQUIRE_FALSE(files);
  CHECK(files.error().code == "target.value");
  INFO(files.error().message);
  CHECK(has(files.error().message, what));
}

void remove(target::Target& target, const std::string& role) {
  std::erase_if(target.memories, [&](const target::Memory& memory) {
    return std::find(memory.roles.begin(), memory.roles.end(), role) != memory.roles.end();
  });
}

}  // namespace

TEST_CASE("Addresses come from the description alone") {
  target::Target target = emulated();
  target.memories[0].origin = 0x80008000;
  target.runner.console.address = 0x10001000;
  const auto files = firmwareFiles(target);
  REQUIRE(files);
  CHECK(has(files->at("link.ld"), "ORIGIN = 0x80008000"));
  CHECK(has(files->at("link.ld"), "dojo_mailbox = 0x80010000;"));
  CHECK(has(files->at("port_config.h"), "#define DOJO_CONSOLE_ADDRESS 0x10001000\n"));
  CHECK(has(files->at("port_config.h"), "#define DOJO_TIMER_MICROS 65536\n"));
  CHECK(has(files->at("port_config.h"), "#define DOJO_EXTRA_COUNTERS 1\n"));
  CHECK(has(files->at("port.cmake"), "-march=rv32imac_"));
}

TEST_CASE("Kernels see code, data and stack, never the runner's own memory") {
  std::vector<std::string> names;
  for (const Region& region : regions(emulated())) names.push_back(region.name);
  CHECK(names == std::vector<std::string>{"code", "data", "stack"});
}

TEST_CASE("What the firmware needs and a description lacks is named") {
  for (const char* role : {"runner", "code", "data", "stack"}) {
    target::Target target = emulated();
    remove(target, role);
    refuses(target, role);
  }
  target::Target target = emulated();
  target.runner.console.kind = "";
  CHECK(firmwareFiles(target));
  remove(target, "mailbox");
  refuses(target, "mailbox");
  target = emulated();
  target.counters.clear();
  refuses(target, "counter");
  target = emulated();
  target.runner.timer.hz = 0;
  refuses(target, "hz");
  target = emulated();
  target.triple = "x86_64-none-elf";
  refuses(target, "triple");
  target = emulated();
  target.memories[2].roles = {"code", "data"};
  refuses(target, "one role");
  target = emulated();
  target.memories[2].length = 0;
  refuses(target, "length");
  target = target::load("qemu-rv32-batch").value();
  target.runner.console.kind = "mailbox";
  refuses(target, "console");
}

}  // namespace dojo::generate
