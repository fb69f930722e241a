// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code for other machines has nothing of this one, and devices that lack what it needs are refused.
#include "codegen/device.h"

#include <catch2/catch.hpp>

#include "codegen/codegen.h"
#include "cross/machines.h"
#include "ir/parse.h"

namespace dojo::test {
namespace {

std::string refusal(const std::string& name, const std::string& isa) {
  const Status status = codegen::deviceRuns(machine(name).target, isa);
  if (status.ok()) return "";
  CHECK(status.error().code == "link.isa");
  return status.error().message;
}

bool mentions(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

}  // namespace

TEST_CASE("a device that lacks an extension is refused, by name and with both sides") {
  CHECK(refusal("riscv64", "riscv64 i m a f d c").empty());
  CHECK(refusal("riscv64 vectors 512", "riscv64 i m a f d c zve32x v vlen=512").empty());
  const std::string refused = refusal("riscv64 vectors 128", "riscv64 i m a f d c");
  CHECK(mentions(refused, "riscv64 vectors 128"));
  CHECK(mentions(refused, "'zve32x'"));
  CHECK(mentions(refused, "'riscv64 i m a f d c'"));
  CHECK(mentions(refusal("riscv64", "riscv64 i m a c"), "'f'"));
  CHECK(mentions(refusal("riscv32", "riscv32 m a f c"), "'d'"));
  CHECK(refusal("rv32imac", "riscv32 m a c").empty());
  CHECK(mentions(refusal("sve", "aarch64 fp-armv8 neon fullfp16"), "'sve'"));
  CHECK(mentions(refusal("armv7", "armv7 vfp3 d32 neon"), "'vfp4'"));
}

TEST_CASE("a device of another family is refused") {
  CHECK(mentions(refusal("riscv64", "riscv32 m a f d c"), "is for riscv64"));
  CHECK(mentions(refusal("aarch64", "x86-64 avx2"), "is for aarch64"));
  CHECK(mentions(refusal("riscv32", "riscv64 m a f d c"), "is for riscv32"));
}

TEST_CASE("code that counts on longer vectors than the device has is refused") {
  // Scalable code is right on every length.
  CHECK(refusal("riscv64 vectors 1024", "riscv64 m a f d c zve32x v vlen=128").empty());
  CHECK(refusal("sve", "aarch64 fp-armv8 neon fullfp16 sve vlen=128").empty());
  CHECK(mentions(refusal("riscv64 vectors 128", "riscv64 m a f d c zve32x v vlen=64"),
                 "needs vector registers of 128 bits, and the device has some of 64"));
  CHECK(refusal("sve 512", "aarch64 fp-armv8 neon fullfp16 sve vlen=512").empty());
  CHECK(refusal("sve 512", "aarch64 fp-armv8 neon fullfp16 sve vlen=2048").empty());
  CHECK(mentions(refusal("sve 512", "aarch64 fp-armv8 neon fullfp16 sve vlen=256"), "512 bits"));
  Machine longer = machine("riscv64 vectors 256");
  longer.target.features += ",+zvl256b";
  const Status refused = codegen::deviceRuns(longer.target, "riscv64 m a f d c zve32x v vlen=128");
  REQUIRE(!refused.ok());
  CHECK(mentions(refused.error().message, "256 bits"));
}

TEST_CASE("nothing of the build machine's processor reaches a target's code") {
  const auto parsed = ir::parse(R"(kernel add
in x f32 [64]
in y f32 [64]
out z f32 [64]

4
| 16
| | z[16*{0} + {1}] = x[16*{0} + {1}] + y[16*{0} + {1}]
)");
  REQUIRE(parsed.ok());
  auto host = target::load("host");
  REQUIRE(host.ok());
  for (const Machine& each : machines()) {
    const auto before = codegen::compile(parsed->program, each.target);
    REQUIRE(before.ok());
    REQUIRE(codegen::compile(parsed->program, *host).ok());
    const auto after = codegen::compile(parsed->program, each.target);
    REQUIRE(after.ok());
    CHECK(before->bytes == after->bytes);
    const auto text = codegen::llvmText(parsed->program, each.target);
    REQUIRE(text.ok());
    CHECK(mentions(*text, "\"target-cpu\"=\"" + each.target.cpu + "\""));
    CHECK(!mentions(*text, codegen::hostCpu()));
    if (!each.target.features.empty()) {
      CHECK(mentions(*text, "\"target-features\"=\"" + each.target.features + "\""));
    }
  }
  target::Target native = machine("riscv64").target;
  native.cpu = "native";
  const auto refused = codegen::compile(parsed->program, native);
  REQUIRE(!refused.ok());
  CHECK(refused.error().code == "compile.native");
}

}  // namespace dojo::test
