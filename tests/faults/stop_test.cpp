// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ctrl-C while an emulated device runs a kernel that doesn't come back.
#include "unit/cli/run_dojo.h"

using dojo::test::Child;
using dojo::test::Folder;
using dojo::test::runDojo;

TEST_CASE("Ctrl-C with an endless kernel on an emulated board ends within two seconds") {
  if (std::system("command -v qemu-system-riscv64 >/dev/null 2>&1") != 0) {
    WARN("not tried: there is no qemu-system-riscv64");
    return;
  }
  Folder folder;
  folder.write("endless.dojo",
               "kernel endless\nin x f32 [4]\ninout y f32 [4]\n\n1000000000\n| 4\n"
               "| | y[{1}] = y[{1}] * x[{1}]\n");
  const std::string log = folder / "log";
  Child child({"tune", folder / "endless.dojo", "--target", "qemu-rv64gcv", "--log", log});
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  const auto start = std::chrono::steady_clock::now();
  child.signal(SIGINT);
  const int code = child.wait();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  INFO(child.out() << child.err());
  CHECK(code == 1);
  CHECK(took.count() < 2);
  CHECK(child.err().find("stopped") != std::string::npos);
  CHECK(runDojo({"log", "verify", "--log", log}).code == 0);
  const auto next = runDojo({"tune", "add", "--shape", "N=4,M=8", "--target", "qemu-rv64gcv",
                             "--trials", "2", "--log", log});
  INFO(next.out << next.err);
  CHECK(next.code == 0);
}
