// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/device.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <llvm/MC/MCSubtargetInfo.h>

#include "codegen/machine.h"
#include "target/lanes.h"

namespace dojo::codegen {
namespace {

/// A family as runners name it, and the extensions that they look for: what else a target's code
/// may use can't be asked of a device.
struct Family {
  const char* name;
  std::vector<const char*> probed;
};
const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      {"x86-64",
       {"sse4.2", "avx", "avx2", "fma", "bmi2", "avx512f", "avx512dq", "avx512bw", "avx512vl",
        "avx512vnni", "avx512bf16"}},
      {"riscv32",
       {"m", "a", "f", "d", "c", "zba", "zbb", "zbc", "zbs", "zicond", "zfa", "zfh", "zve32x", "v",
        "zvfh", "zvbb"}},
      {"riscv64",
       {"m", "a", "f", "d", "c", "zba", "zbb", "zbc", "zbs", "zicond", "zfa", "zfh", "zve32x", "v",
        "zvfh", "zvbb"}},
      {"aarch64",
       {"fp-armv8", "neon", "fullfp16", "dotprod", "sve", "sve2", "i8mm", "bf16", "sme"}},
      {"armv7", {"vfp3", "d32", "neon", "vfp4", "hwdiv", "hwdiv-arm", "fullfp16", "dotprod"}},
  };
  return all;
}

/// Whether a machine that names itself so runs code of this architecture.
bool isFamily(const std::string& name, const llvm::Triple& triple) {
  if (triple.isX86()) return name == "x86-64";
  if (triple.isAArch64()) return name == "aarch64";
  if (triple.isARM() || triple.isThumb()) return name.starts_with("arm");
  if (triple.isRISCV()) return name == (triple.isArch64Bit() ? "riscv64" : "riscv32");
  return true;
}

/// 0: not said.
int lengthIn(const std::vector<std::string>& words) {
  constexpr std::string_view kLength = "vlen=";
  int bits = 0;
  for (const std::string& word : words) {
    if (!word.starts_with(kLength)) continue;
    std::from_chars(word.data() + kLength.size(), word.data() + word.size(), bits);
  }
  return bits;
}

}  // namespace

Status deviceRuns(const target::Target& target, const std::string& isa) {
  std::istringstream stream(isa);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(std::move(word));
  if (words.empty()) return {};
  Result<llvm::TargetMachine*> machine = machineFor(target);
  if (!machine) return machine.error();
  const llvm::Triple& triple = (*machine)->getTargetTriple();
  const llvm::MCSubtargetInfo& info = *(*machine)->getMCSubtargetInfo();
  const auto refuse = [&](const std::string& what) {
    return Error{
        "link.isa",
        fmt::format("code for target {} {}; the device reports '{}'", target.name, what, isa),
        target.file, ""};
  };
  if (!isFamily(words[0], triple)) {
    return refuse(fmt::format("is for {}", triple.getArchName().str()));
  }
  for (const Family& family : families()) {
    if (family.name != words[0]) continue;
    for (const char* name : family.probed) {
      if (!info.checkFeatures(std::string("+") + name)) continue;
      if (std::find(words.begin() + 1, words.end(), name) == words.end()) {
        return refuse(fmt::format("uses '{}', which the device lacks", name));
      }
    }
  }
  // Not where vectors are packed into other registers.
  const bool anyLength = (triple.isRISCV() && info.checkFeatures("+zve32x")) ||
                         (triple.isAArch64() && info.checkFeatures("+sve"));
  const int needed = anyLength && target.vector.bits > 0 ? target::guaranteedVectorBits(target) : 0;
  const int there = lengthIn(words);
  if (needed > there) {
    return refuse(fmt::format("needs vector registers of {} bits, and the device has {}", needed,
                              there == 0 ? "none" : fmt::format("some of {}", there)));
  }
  return {};
}

}  // namespace dojo::codegen
