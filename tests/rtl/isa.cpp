// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs in the style of the RISC-V ISA tests (programs/isa) on harts of the Snitch cluster.
#include <string>

#include <catch2/catch.hpp>

#include "support.h"

namespace {

int statusOf(const std::string& program) {
  const rtl::Folder folder;
  const std::string elf = rtl::build(folder, {"isa/" + program + ".S"}, rtl::snitch());
  return rtl::run(std::string(DOJO_BINARY_DIR "/bin/") + rtl::snitch().model + " --elf " + elf +
                  " --cycles 1000000")
      .status;
}

}  // namespace

TEST_CASE("ISA tests of our own pass on a hart of the Snitch cluster") {
  if (!rtl::have(DOJO_CLANG)) return;
  // The status is the number of the case that fails.
  CHECK(statusOf("integer") == 0);
  CHECK(statusOf("atomics") == 0);
  CHECK(statusOf("traps") == 0);
  CHECK(statusOf("single") == 0);
  CHECK(statusOf("double") == 0);
  CHECK(statusOf("failing") == 5);
}
