// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "target/registers.h"

#include <algorithm>
#include <string_view>

namespace dojo::target {
namespace {

/// Integer registers that hold bases of buffers, counters, and the stack where it is one of them.
constexpr int kAddresses = 6;
/// Registers of RISC-V that code for kernels has no use of: zero, the return address, and the
/// pointers to the stack, to globals and to the thread.
constexpr int kSetAside = 5;

bool startsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool lists(std::string_view features, std::string_view wanted) {
  for (std::size_t at = 0; at < features.size();) {
    const std::size_t end = std::min(features.find(',', at), features.size());
    if (features.substr(at, end - at) == wanted) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

int scalarRegisters(const Target& target, bool floats) {
  const std::string_view triple = target.triple;
  const std::string_view features = target.features;
  if (startsWith(triple, "riscv")) {
    if (floats && (lists(features, "+f") || lists(features, "+d"))) return 32;
    return (lists(features, "+e") ? 16 : 32) - kSetAside - kAddresses;
  }
  if (startsWith(triple, "aarch64")) return floats ? 32 : 31 - kAddresses;
  if (startsWith(triple, "arm") || startsWith(triple, "thumb")) {
    // Every unit of Arm has 32 registers of single precision, of whatever else it has 16.
    const bool unit = features.find("vfp") != std::string_view::npos ||
                      features.find("fp-armv8") != std::string_view::npos ||
                      features.find("neon") != std::string_view::npos;
    return floats && unit ? 32 : 16 - kAddresses;
  }
  return floats ? 16 : 16 - kAddresses;
}

}  // namespace dojo::target
