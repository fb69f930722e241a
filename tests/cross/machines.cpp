// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cross/machines.h"

#include <map>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "codegen/codegen.h"
#include "ir/print.h"
#include "support/outputs.h"

namespace dojo::test {
namespace {

target::Target basis(const char* name, const char* triple, const char* cpu, const char* features) {
  target::Target target;
  target.name = name;
  target.triple = triple;
  target.cpu = cpu;
  target.features = features;
  target.mappings = {"unroll", "parallel"};
  target.locations = {"heap", "stack", "register"};
  target.stackBytes = 1 << 16;
  target.unrollLimit = 4096;
  target.vector.fma = true;
  return target;
}

target::Target withVectors(target::Target target, int bits, bool scalable, bool floats = true) {
  target.mappings.emplace_back("vector");
  target.vector.bits = bits;
  target.vector.scalable = scalable;
  target.vector.grouping = scalable ? 8 : 4;
  target.vector.registers = 32;
  target.vector.types = {"i64", "i32", "i16", "i8", "u8"};
  if (floats) target.vector.types.insert(target.vector.types.end(), {"f64", "f32"});
  return target;
}

std::vector<There> riscvWithVectors() {
  std::vector<There> out;
  for (const int bits : {128, 256, 512, 1024}) {
    out.push_back(
        {"riscv64",
         {"qemu-riscv64", "-cpu",
          // What an instruction may leave anyhow behind the last lane, or where it's masked, is
          // ones.
          fmt::format("rv64,v=true,vext_spec=v1.0,rvv_ta_all_1s=true,rvv_ma_all_1s=true,vlen={}",
                      bits)}});
  }
  return out;
}

std::vector<Machine> all() {
  constexpr const char* kRiscv = "riscv64-unknown-linux-gnu";
  std::vector<Machine> out;
  target::Target riscv = basis("riscv64", kRiscv, "generic-rv64", "+m,+a,+f,+d,+c");
  riscv.abi = "lp64d";
  riscv.codeModel = "medany";
  out.push_back({riscv, {{"riscv64", {"qemu-riscv64"}}}});
  for (const int bits : {128, 256, 512, 1024}) {
    target::Target vectors = withVectors(riscv, bits, true);
    vectors.name = fmt::format("riscv64 vectors {}", bits);
    vectors.features += ",+v";
    out.push_back({vectors, riscvWithVectors()});
  }
  target::Target riscv32 =
      basis("riscv32", "riscv32-unknown-elf", "generic-rv32", "+m,+a,+f,+d,+c");
  riscv32.abi = "ilp32d";
  riscv32.codeModel = "medany";
  out.push_back({riscv32, {{"riscv32", {"qemu-riscv32"}}}});
  const target::Target aarch64 = basis("aarch64", "aarch64-unknown-linux-gnu", "cortex-a72", "");
  out.push_back({withVectors(aarch64, 128, false), {{"aarch64", {"qemu-aarch64"}}}});
  target::Target sve = withVectors(aarch64, 256, true);
  sve.name = "sve";
  sve.features = "+sve";
  Machine scalable{sve, {}};
  for (const int bytes : {16, 32, 64, 256}) {
    scalable.there.push_back(
        {"aarch64", {"qemu-aarch64", "-cpu", fmt::format("max,sve-max-vq={}", bytes / 16)}});
  }
  out.push_back(scalable);
  target::Target fixed = withVectors(aarch64, 512, false);
  fixed.name = "sve 512";
  fixed.features = "+sve";
  out.push_back({fixed, {scalable.there[2], scalable.there[3]}});
  const target::Target armv7 = basis("armv7", "armv7-unknown-linux-gnueabihf", "cortex-a15", "");
  out.push_back({withVectors(armv7, 128, false, false), {{"arm", {"qemu-arm", "-cpu", "max"}}}});
  // The emulator has no user mode of M profile; A profile runs the same instructions.
  const target::Target m4 = basis("cortex-m4", "thumbv7em-none-eabihf", "cortex-m4", "");
  out.push_back({m4, {{"arm", {"qemu-arm", "-cpu", "max"}}}});
  // Without floats in hardware.
  target::Target m3 = basis("cortex-m3", "thumbv7m-none-eabi", "cortex-m3", "");
  m3.vector.fma = false;
  out.push_back({m3, {{"arm", {"qemu-arm", "-cpu", "max"}}}});
  target::Target small = basis("rv32imac", "riscv32-unknown-elf", "generic-rv32", "+m,+a,+c");
  small.abi = "ilp32";
  small.codeModel = "medlow";
  small.vector.fma = false;
  out.push_back({small, {{"riscv32", {"qemu-riscv32"}}}});
  target::Target single = basis("rv32imafc", "riscv32-unknown-elf", "generic-rv32", "+m,+a,+f,+c");
  single.abi = "ilp32f";
  single.codeModel = "medany";
  out.push_back({single, {{"riscv32", {"qemu-riscv32"}}}});
  return out;
}

}  // namespace

const std::vector<Machine>& machines() {
  static const std::vector<Machine> known = all();
  return known;
}

const Machine& machine(const std::string& name) {
  for (const Machine& each : machines()) {
    if (each.target.name == name) return each;
  }
  FAIL("no machine " << name);
  return machines().front();
}

namespace {

Caller& callerOf(const There& there) {
  static std::map<std::vector<std::string>, std::unique_ptr<Caller>> started;
  std::unique_ptr<Caller>& caller = started[there.emulator];
  if (!caller) {
    auto fresh = Caller::start(there);
    REQUIRE((fresh.ok() ? "" : fresh.error().text()) == "");
    caller = std::move(fresh).value();
  }
  return *caller;
}

}  // namespace

std::string wrongThere(const ir::Program& program, const Machine& machine,
                       const std::vector<ir::InputSet>& sets) {
  const auto object = codegen::compile(program, machine.target);
  if (!object.ok()) return "refused: " + object.error().text();
  for (const ir::InputSet set : sets) {
    const std::vector<ir::Tensor> inputs = ir::makeInputs(program, set, 1);
    const Expectation expectation(program, inputs);
    for (const There& there : machine.there) {
      const auto after = callerOf(there).call(program, object->bytes, inputs);
      const std::string wrong = after.ok() ? expectation.differs(*after) : after.error().text();
      if (wrong.empty()) continue;
      return fmt::format("{} on {}: {}\n{}", machine.target.name, there.emulator.back(), wrong,
                         ir::print(program));
    }
  }
  return "";
}

}  // namespace dojo::test
