// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dojo-port TARGET FOLDER: writes what the firmware of a bare-metal target is built from. A
// memory's base and a device's address stand in the target's JSON file alone:
//   port_config.h  sizes, addresses, the regions of kernels
//   items.S        what HELLO answers that never changes
//   link.ld        where the firmware lies, and how large it may be
//   port.cmake     which sources and which compiler flags
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "generate/generate.h"

int main(int argc, char** argv) {
  using namespace dojo;
  if (argc != 3) {
    fmt::print(stderr, "usage: dojo-port TARGET FOLDER\n");
    return 2;
  }
  Result<target::Target> target = target::load(argv[1]);
  Result<generate::Files> files =
      target ? generate::firmwareFiles(*target) : Result<generate::Files>(target.error());
  if (!files) {
    fmt::print(stderr, "dojo-port: {}\n", files.error().text());
    return 1;
  }
  const std::filesystem::path folder = argv[2];
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  for (const auto& [name, text] : *files) {
    std::ofstream out(folder / name, std::ios::binary);
    if (!(out << text) || !out.flush()) {
      fmt::print(stderr, "dojo-port: can't write {}\n", (folder / name).string());
      return 1;
    }
  }
  return 0;
}
