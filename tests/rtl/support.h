// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Building programs for the RV32 core and running them on the model, on QEMU, under OpenOCD.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rtl {

/// A folder of this test's own, removed at the end.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string path(const std::string& name) const { return path_ + "/" + name; }
  /// Writes a file and returns its path.
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const;

 private:
  std::string path_;
};

struct Outcome {
  int status = -1;     ///< Of the shell: 124 when it ran out of time.
  std::string output;  ///< Standard output.
};

/// Runs a shell command for at most `seconds`.
[[nodiscard]] Outcome run(const std::string& command, int seconds = 60);

/// Says so and returns false where a program that a test needs isn't installed.
[[nodiscard]] bool have(const std::string& program);

/// A machine under test: its model, and what programs for it are compiled with.
struct Machine {
  const char* name;
  const char* model;    ///< The program's name.
  const char* arch;     ///< -march
  const char* abi;      ///< -mabi
  const char* defines;  ///< Addresses of its devices.
};
[[nodiscard]] const Machine& rv32();
[[nodiscard]] const Machine& snitch();
[[nodiscard]] std::vector<const Machine*> machines();

/// Links sources (within programs/ where they don't begin with '/') with clang and lld. Fails the
/// test with what the compiler said.
[[nodiscard]] std::string build(const Folder& folder, const std::vector<std::string>& sources,
                                const Machine& machine = rv32());
/// The same program, its console where QEMU has it.
[[nodiscard]] std::string buildForQemu(const Folder& folder,
                                       const std::vector<std::string>& sources,
                                       const Machine& machine = rv32());

/// The text that a program printed on the model; fails the test where its exit status isn't 0.
[[nodiscard]] std::string runOnModel(const std::string& elf, const Machine& machine = rv32());
/// The same on qemu-system-riscv32's machine "virt".
[[nodiscard]] std::string runOnQemu(const std::string& elf);

/// Assembly around a test: the prologue sets up s0 = `results` and turns floating point on; the
/// epilogue prints the words from `results` to s0, one a line, and ends with status 0.
[[nodiscard]] std::string frame(const std::string& body);

[[nodiscard]] std::vector<std::string> lines(const std::string& text);
[[nodiscard]] std::string hex(std::uint32_t value);

/// A piece of assembly that stores words at s0, and the words that are expected.
struct Piece {
  std::string what, code;
  std::vector<std::uint32_t> words;
};

/// Stores a2.
inline const std::string kKeep = "  sw a2, 0(s0)\n  addi s0, s0, 4\n";

/// Runs pieces one after another in one program on the model. Before each stands `before`.
void check(const std::vector<Piece>& pieces, const std::string& before = {},
           const std::vector<std::string>& sources = {"start.S"}, const Machine& machine = rv32());

}  // namespace rtl
