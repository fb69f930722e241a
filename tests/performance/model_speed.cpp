// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How fast the models of the Snitch cluster simulate, in kHz: integer code and FP code (streams and
// hardware loops), on one core and on eight, and while all harts wait. Prints wall and processor
// time; a machine that does other things at the same time is seen in the difference.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>

#include <sys/wait.h>

namespace {

/// Every hart below COMPUTE runs the body for ever, the others sleep.
const char* const kStart = R"(
  .globl _start
  .section .init, "ax"
  .option norelax
_start:
  li t0, 0x10021000       # take the interrupt back that started us
  li t1, 0x1ff
  sw t1, 0x1a8(t0)
  lw t1, 0x1a8(t0)
  csrr a0, mhartid
  li t0, COMPUTE
  bgeu a0, t0, 9f
  slli a1, a0, 12         # 4 KiB each
  li a2, 0x10000000
  add a1, a1, a2
  j body
9:wfi
  j 9b
)";

const char* const kInteger = R"(
body:
1:lw a3, 0(a1)
  addi a4, a4, 1
  sw a4, 4(a1)
  add a5, a5, a4
  xor a6, a5, a4
  mul a7, a6, a5
  bne a1, x0, 1b
)";

/// Two streams of 256 elements, multiplied and added by a hardware loop.
const char* const kFloat = R"(
body:
  fcvt.d.w fa0, x0
  fcvt.d.w fa1, x0
  fcvt.d.w fa2, x0
  fcvt.d.w fa3, x0
  li t0, 255
  .word 0x02 << 25 | 0x00 << 20 | 5 << 15 | 2 << 12 | 0x2b    # bound, mover 0
  .word 0x02 << 25 | 0x01 << 20 | 5 << 15 | 2 << 12 | 0x2b    # mover 1
  li t0, 8
  .word 0x06 << 25 | 0x00 << 20 | 5 << 15 | 2 << 12 | 0x2b    # stride
  .word 0x06 << 25 | 0x01 << 20 | 5 << 15 | 2 << 12 | 0x2b
  csrsi 0x7c0, 1
  addi a2, a1, 2040
  addi a2, a2, 8
  li t1, 63
1:.word 0x18 << 25 | 0x00 << 20 | 11 << 15 | 2 << 12 | 0x2b   # read from a1
  .word 0x18 << 25 | 0x01 << 20 | 12 << 15 | 2 << 12 | 0x2b   # and from a2
  .word 3 << 20 | 6 << 15 | 0x8b                              # frep: 4 instructions, 64 times
  fmadd.d fa0, ft0, ft1, fa0
  fmadd.d fa1, ft0, ft1, fa1
  fmadd.d fa2, ft0, ft1, fa2
  fmadd.d fa3, ft0, ft1, fa3
  j 1b
)";

const char* const kNothing = "body:\n1:wfi\n  j 1b\n";

namespace fs = std::filesystem;

bool run(const fs::path& folder, const char* model, int compute, const char* what, const char* body,
         long cycles) {
  const std::string source = (folder / "speed.S").string();
  const std::string elf = (folder / "speed.elf").string();
  std::ofstream(source) << ".equ COMPUTE, " << compute << '\n' << kStart << body;
  const std::string build =
      DOJO_CLANG
      " --target=riscv32 -march=rv32imafd_zicsr_zifencei -mabi=ilp32d -nostdlib "
      "--ld-path=" DOJO_LLD " -Wl,-T," DOJO_SOURCE_DIR "/tests/rtl/programs/link.ld -o " +
      elf + " " + source;
  std::printf("%-20s %d at work, %-8s ", model, compute, what);
  std::fflush(stdout);
  const std::string simulate = std::string(DOJO_BINARY_DIR "/bin/") + model + " --elf " + elf +
                               " --stats --max-cycles " + std::to_string(cycles) + " 2>&1";
  return std::system(build.c_str()) == 0 && WEXITSTATUS(std::system(simulate.c_str())) == 3;
}

}  // namespace

int main() {
  std::string pattern = (fs::temp_directory_path() / "dojo-speed-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) return 2;
  const fs::path folder = pattern;
  bool good = true;
  for (const auto& [model, cores, cycles] : {std::tuple("dojo-snitch1-model", 1, 1000000L),
                                             std::tuple("dojo-snitch-model", 8, 200000L)}) {
    good = run(folder, model, cores, "integer", kInteger, cycles) && good;
    good = run(folder, model, cores, "FP", kFloat, cycles) && good;
    good = run(folder, model, 0, "nothing", kNothing, cycles) && good;
  }
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return good ? 0 : 1;
}
