// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cluster.h"

namespace rtl {

const Machine& snitch8() {
  static const Machine machine = {"snitch with eight cores", "dojo-snitch-model", snitch().arch,
                                  snitch().abi, snitch().defines};
  return machine;
}

const Machine& checked() {
  static const Machine machine = {"snitch with assertions", "dojo-snitch-dot8-model", snitch().arch,
                                  snitch().abi, snitch().defines};
  return machine;
}

std::string buildCluster(const Folder& folder, const std::string& all, int words,
                         const std::string& data) {
  const std::string text =
      "#include \"cluster.inc\"\n.globl test\n.globl other_hart\n.option norelax\n"
      "other_hart:\n  call all\n0:wfi\n  j 0b\n"
      "test:\n  addi sp, sp, -16\n  sw ra, 12(sp)\n  li a0, 0\n  call all\n"
      "  la a0, results\n  addi a1, a0, " +
      std::to_string(4 * words) +
      "\n  call print_words\n  li a0, 0\n  lw ra, 12(sp)\n  addi sp, sp, 16\n  ret\nall:\n" + all +
      "\n.data\n" + data + "\n.bss\n.balign 64\n.globl results\nresults: .space 4096\n";
  return build(folder, {"start.S", folder.write("test.S", text)}, snitch8());
}

Lines runCluster(const std::string& all, int words, const Machine& machine,
                 const std::string& data) {
  const Folder folder;
  return lines(runOnModel(buildCluster(folder, all, words, data), machine));
}

}  // namespace rtl
