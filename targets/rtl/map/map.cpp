// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the addresses of a target's description down for the model: as the SystemVerilog package
// map_pkg and as a C++ header. They stand in targets/NAME.json and nowhere else.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <string>
#include <vector>

#include "target/target.h"

namespace {

struct Range {
  std::string name;
  std::uint64_t origin = 0;
  std::uint64_t bytes = 0;
};

/// "boot_rom" -> "BootRom".
std::string camelCase(const std::string& name) {
  std::string out;
  bool upper = true;
  for (const char character : name) {
    if (character == '_') {
      upper = true;
    } else {
      out += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(character)))
                   : character;
      upper = false;
    }
  }
  return out;
}

bool hasRole(const dojo::target::Memory& memory, const char* role) {
  return std::find(memory.roles.begin(), memory.roles.end(), role) != memory.roles.end();
}

/// From the first to the last memory with a role within the 256 MiB around one that has `role`.
Range around(const dojo::target::Target& target, const char* name, const char* role) {
  const auto has = [role](const auto& memory) { return hasRole(memory, role); };
  const auto seed = std::find_if(target.memories.begin(), target.memories.end(), has);
  if (seed == target.memories.end()) return {};
  std::uint64_t first = seed->origin;
  std::uint64_t end = seed->origin + seed->length;
  for (const dojo::target::Memory& memory : target.memories) {
    if (memory.roles.empty() || memory.origin >> 28 != seed->origin >> 28) continue;
    first = std::min(first, memory.origin);
    end = std::max(end, memory.origin + memory.length);
  }
  return {name, first, end - first};
}

/// The RAM that kernels' code lies in, the scratchpad, the timer, and what memories without a role
/// say.
std::vector<Range> ranges(const dojo::target::Target& target) {
  constexpr std::uint64_t kClintBytes = 0x10000;
  std::vector<Range> out = {around(target, "Ram", "code"),
                            {"Clint", target.runner.timer.address, kClintBytes}};
  const Range scratchpad = around(target, "Scratchpad", "scratchpad");
  if (scratchpad.bytes != 0) out.push_back(scratchpad);
  for (const dojo::target::Memory& memory : target.memories) {
    if (memory.roles.empty()) out.push_back({camelCase(memory.name), memory.origin, memory.length});
  }
  return out;
}

bool write(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  const bool good = std::fputs(text.c_str(), file) >= 0;
  return std::fclose(file) == 0 && good;
}

std::string hex(std::uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "%08llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    std::fprintf(stderr, "usage: %s TARGET PACKAGE.sv HEADER.h\n", arguments[0]);
    return 2;
  }
  const auto target = dojo::target::load(arguments[1]);
  if (!target) {
    std::fprintf(stderr, "%s\n", target.error().text().c_str());
    return 1;
  }
  std::string package = "// Generated from " + target->name +
                        ".json: where the machine's parts lie.\npackage map_pkg;\n";
  std::string header = "// Generated from " + target->name +
                       ".json: where the machine's parts lie.\n#pragma once\n\n#include "
                       "<cstdint>\n\nnamespace dojo::rtl {\n";
  for (const Range& range : ranges(*target)) {
    if (range.bytes == 0 || range.origin + range.bytes > std::uint64_t(1) << 32) {
      std::fprintf(stderr, "%s: %s: not within 32 bits\n", arguments[1], range.name.c_str());
      return 1;
    }
    package += "  localparam logic [31:0] " + range.name + "Origin = 32'h" + hex(range.origin) +
               ";\n  localparam logic [31:0] " + range.name + "Bytes = 32'h" + hex(range.bytes) +
               ";\n";
    header += "constexpr std::uint64_t k" + range.name + "Origin = 0x" + hex(range.origin) +
              ";\nconstexpr std::uint64_t k" + range.name + "Bytes = 0x" + hex(range.bytes) + ";\n";
  }
  package += "endpackage\n";
  header += "}  // namespace dojo::rtl\n";
  if (!write(arguments[2], package) || !write(arguments[3], header)) {
    std::perror(arguments[2]);
    return 1;
  }
  return 0;
}
