// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>
#include <sys/wait.h>

namespace rtl {

namespace fs = std::filesystem;

namespace {

const std::string kPrograms = std::string(DOJO_SOURCE_DIR) + "/tests/rtl/programs/";

/// Compiles and links into program.elf, or what else it is to be called.
std::string link(const Folder& folder, const std::vector<std::string>& sources,
                 const Machine& machine, const std::string& defines, const std::string& name) {
  std::string command = DOJO_CLANG " --target=riscv32 -march=";
  command +=
      std::string(machine.arch) + " -mabi=" + machine.abi + " " + defines +
      " -O2 -Wall -Werror -ffreestanding -fno-builtin -nostdlib --ld-path=" DOJO_LLD " -Wl,-T," +
      kPrograms + "link.ld -I" + kPrograms + " -I" + kPrograms + "isa -o " + folder.path(name);
  for (const std::string& source : sources) {
    command += ' ' + (source.starts_with('/') ? source : kPrograms + source);
  }
  const Outcome outcome = run(command + " 2>&1");
  INFO(command << "\n" << outcome.output);
  REQUIRE(outcome.status == 0);
  return folder.path(name);
}

}  // namespace

const Machine& rv32() {
  static const Machine machine = {"rv32", "dojo-rv32-model", "rv32imaf_zicsr_zifencei", "ilp32f",
                                  "-DUART=0x10000000 -DCLINT=0x02000000"};
  return machine;
}

const Machine& snitch() {
  static const Machine machine = {"snitch", "dojo-snitch1-model", "rv32imafd_zicsr_zifencei",
                                  "ilp32d", "-DUART=0x20000000 -DCLINT=0xffff0000"};
  return machine;
}

std::vector<const Machine*> machines() { return {&rv32(), &snitch()}; }

Folder::Folder() {
  std::string pattern = (fs::temp_directory_path() / "dojo-rtl-XXXXXX").string();
  REQUIRE(mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string Folder::write(const std::string& name, const std::string& text) const {
  std::ofstream(path(name)) << text;
  return path(name);
}

Outcome run(const std::string& command, int seconds) {
  Outcome out;
  const std::string limited =
      "timeout " + std::to_string(seconds) + " sh -c '" + command + "' </dev/null";
  std::FILE* pipe = popen(limited.c_str(), "r");
  REQUIRE(pipe != nullptr);
  char chunk[4096];
  std::size_t got = 0;
  while ((got = std::fread(chunk, 1, sizeof chunk, pipe)) > 0) out.output.append(chunk, got);
  const int status = pclose(pipe);
  out.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return out;
}

bool have(const std::string& program) {
  if (std::system(("command -v " + program + " >/dev/null").c_str()) == 0) return true;
  WARN("skipped: " << program << " isn't installed");
  return false;
}

std::string build(const Folder& folder, const std::vector<std::string>& sources,
                  const Machine& machine) {
  return link(folder, sources, machine, machine.defines, "program.elf");
}

std::string buildForQemu(const Folder& folder, const std::vector<std::string>& sources,
                         const Machine& machine) {
  return link(folder, sources, machine, rv32().defines, "qemu.elf");
}

std::string runOnModel(const std::string& elf, const Machine& machine) {
  const Outcome outcome = run(std::string(DOJO_BINARY_DIR "/bin/") + machine.model + " --elf " +
                                  elf + " --cycles 200000000",
                              300);
  INFO(outcome.output);
  REQUIRE(outcome.status == 0);
  return outcome.output;
}

std::string runOnQemu(const std::string& elf) {
  const Outcome outcome = run(
      "qemu-system-riscv32 -M virt -bios none -display none -monitor none -serial stdio -kernel " +
      elf);
  INFO(outcome.output);
  REQUIRE(outcome.status == 0);
  return outcome.output;
}

std::string frame(const std::string& body) {
  return ".globl test\n.option norelax\ntest:\n  addi sp, sp, -16\n  sw ra, 12(sp)\n"
         "  la s0, results\n" +
         body +
         "\n  la a0, results\n  mv a1, s0\n  call print_words\n  li a0, 0\n  lw ra, 12(sp)\n"
         "  addi sp, sp, 16\n  ret\n.bss\n.balign 16\n.globl results\nresults: .space 262144\n";
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

std::string hex(std::uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "%08x", value);
  return text;
}

void check(const std::vector<Piece>& pieces, const std::string& before,
           const std::vector<std::string>& sources, const Machine& machine) {
  const Folder folder;
  std::string body;
  for (const Piece& piece : pieces) body += before + piece.code + '\n';
  std::vector<std::string> all = sources;
  all.push_back(folder.write("test.S", frame(body)));
  const std::vector<std::string> seen = lines(runOnModel(build(folder, all, machine), machine));
  INFO(machine.name);
  std::size_t at = 0;
  for (const Piece& piece : pieces) {
    for (const std::uint32_t word : piece.words) {
      INFO(piece.what);
      REQUIRE(at < seen.size());
      CHECK(seen[at++] == hex(word));
    }
  }
  CHECK(at == seen.size());
}

}  // namespace rtl
