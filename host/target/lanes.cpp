// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "target/lanes.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace dojo::target {
namespace {

constexpr int kMostRegistersInGroup = 8;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// The number in "zvl128b" or "zve64x"; 0: none.
int numberAfter(const std::string& word, const std::string& prefix) {
  if (!word.starts_with(prefix)) return 0;
  int value = 0;
  std::from_chars(word.data() + prefix.size(), word.data() + word.size(), value);
  return value;
}

bool isRiscv(const Target& target) { return target.triple.starts_with("riscv"); }

/// What a RISC-V extension promises of vector registers.
int promisedBits(const std::string& extension) {
  if (extension == "v") return 128;
  return std::max(numberAfter(extension, "zvl"), numberAfter(extension, "zve"));
}

}  // namespace

int guaranteedVectorBits(const Target& target) {
  if (!target.vector.scalable) return target.vector.bits;
  int bits = 0;
  if (isRiscv(target)) {
    for (const std::string& feature : split(target.features, ',')) {
      if (feature[0] == '+') bits = std::max(bits, promisedBits(feature.substr(1)));
    }
  }
  return bits > 0 ? bits : 128;
}

int vectorValueBits(const Target& target) {
  const int bits = guaranteedVectorBits(target);
  if (!target.vector.scalable || !isRiscv(target)) return bits;
  return bits * std::clamp(target.vector.grouping, 1, kMostRegistersInGroup);
}

}  // namespace dojo::target
