// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generate/generate.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "protocol/protocol.h"

namespace dojo::generate {
namespace {

using target::Memory;
using target::Target;

bool hasRole(const Memory& memory, const std::string& role) {
  return std::find(memory.roles.begin(), memory.roles.end(), role) != memory.roles.end();
}

const Memory* withRole(const Target& target, const std::string& role, char access) {
  for (const Memory& memory : target.memories) {
    if (hasRole(memory, role) && memory.access.find(access) != std::string::npos) return &memory;
  }
  return nullptr;
}

bool isBatch(const Target& target) { return target.runner.transport == "batch"; }

/// What every part needs.
struct Parts {
  const Target* target = nullptr;
  const Memory* rom = nullptr;  ///< The firmware's code and constants.
  const Memory* ram = nullptr;  ///< Its variables; may be the same.
  const Memory* mailbox = nullptr;
  const Region* stack = nullptr;
  std::vector<Region> regions;
  std::string arch;  ///< "riscv32", "riscv64", "arm", "aarch64"
  [[nodiscard]] int word() const { return arch == "riscv64" || arch == "aarch64" ? 8 : 4; }
};

Error lacks(const Target& target, const std::string& what) {
  return Error{"target.value", "the firmware of '" + target.name + "' needs " + what, target.file,
               ""};
}

/// A counter beside counter 0: its number in the protocol.
std::optional<int> counterId(const target::Counter& counter) {
  if (counter.event == "instructions") return DOJO_COUNTER_INSTRUCTIONS;
  if (counter.event == "cycles") return DOJO_COUNTER_CYCLES;
  return std::nullopt;
}

bool feature(const Target& target, const std::string& name) {
  const std::string all = "," + target.features + ",";
  return all.find(",+" + name + ",") != std::string::npos;
}

std::string config(const Parts& parts) {
  const Target& t = *parts.target;
  std::string out = fmt::format(
      "/* Of target {}; written by dojo-port. */\n#ifndef DOJO_PORT_CONFIG_H\n"
      "#define DOJO_PORT_CONFIG_H\n\n#define DOJO_FRAME_MAX {}\n#define DOJO_SAMPLE_WINDOW {}\n",
      t.name, t.runner.frameBytes, t.runner.window);
  int extra = 0;
  unsigned mask = 1;
  for (std::size_t i = 1; i < t.counters.size(); ++i) {
    if (const auto id = counterId(t.counters[i])) {
      ++extra;
      mask |= 1U << *id;
    }
  }
  out += fmt::format("#define DOJO_EXTRA_COUNTERS {}\n#define DOJO_COUNTER_MASK {}\n", extra, mask);
  out +=
      fmt::format("#define DOJO_COUNTER_WIDTH {}\n", t.counters.empty() ? 64 : t.counters[0].width);
  const auto peripheral = [&out](const std::string& name, const target::Peripheral& at) {
    if (at.kind.empty()) return;
    out += fmt::format(
        "#define DOJO_{0}_ADDRESS {1:#x}\n#define DOJO_{0}_HZ {2:.0f}\n"
        "#define DOJO_{0}_STRIDE {3}\n",
        name, at.address, at.hz, at.stride);
  };
  peripheral("CONSOLE", t.runner.console);
  peripheral("TIMER", t.runner.timer);
  if (t.runner.timer.hz > 0) {
    // 16.16 fixed point: no division on the device.
    out += fmt::format("#define DOJO_TIMER_MICROS {:.0f}\n#define DOJO_TIMER_TICKS {:.0f}\n",
                       std::round(65536e6 / t.runner.timer.hz),
                       std::round(65536 * t.runner.timer.hz / 1e6));
  }
  out += fmt::format("#define DOJO_CONSOLE_BAUD {}\n", t.runner.baud);
  if (parts.mailbox != nullptr) {
    // The list of a batch image lies where the mailbox would.
    const char* name = isBatch(t) ? "LIST" : "MAILBOX";
    out += fmt::format("#define DOJO_{0}_ADDRESS {1:#x}\n#define DOJO_{0}_{2} {3:#x}\n", name,
                       parts.mailbox->origin, isBatch(t) ? "ROOM" : "SIZE", parts.mailbox->length);
  }
  // One stack for each hart, one after another.
  out += fmt::format(
      "#define DOJO_HARTS {}\n#define DOJO_STACK_BASE {:#x}\n#define DOJO_STACK_SIZE {:#x}\n",
      t.harts, parts.stack->base, parts.stack->size / static_cast<unsigned>(t.harts) & ~15ULL);
  const bool cached = std::any_of(t.memories.begin(), t.memories.end(), [](const Memory& memory) {
    return memory.cached && hasRole(memory, "data");
  });
  // What RISC-V calls vectors is an extension of its own.
  const bool vectors = t.vector.bits != 0 &&
                       (!parts.arch.starts_with("riscv") || t.vector.scalable || feature(t, "v"));
  out += fmt::format("#define DOJO_CACHED {}\n#define DOJO_VECTORS {}\n#define DOJO_STREAMS {}\n",
                     cached ? 1 : 0, vectors ? 1 : 0, t.streams.movers);
  out += "/* base, size, flags */\n#define DOJO_REGIONS";
  for (const Region& region : parts.regions) {
    if (&region != parts.stack) {
      out += fmt::format(" \\\n  {{{:#x}, {:#x}, {}}},", region.base, region.size, region.flags);
    }
  }
  out += "\n/* gigabytes (of the address space) that hold memory */\n#define DOJO_GIGABYTES";
  std::map<std::uint64_t, bool> gigabytes;
  for (const Memory& memory : t.memories) {
    if (memory.roles.empty()) continue;  // devices
    for (std::uint64_t at = memory.origin >> 30; at <= (memory.origin + memory.length - 1) >> 30;
         ++at) {
      gigabytes[at] = true;
    }
  }
  for (const auto& [at, here] : gigabytes) out += fmt::format(" {},", at);
  out += "\n\n#endif\n";
  return out;
}

std::string item(int tag, std::size_t bytes, const std::string& payload) {
  return fmt::format("\t.byte {}, {}, {}\n{}", tag, bytes & 255, bytes >> 8, payload);
}

std::string quad(std::uint64_t value) {
  return fmt::format("\t.4byte {:#x}, {:#x}\n", value & 0xffffffff, value >> 32);
}

std::string items(const Parts& parts) {
  const Target& t = *parts.target;
  std::string out = fmt::format(
      "/* Of target {}; written by dojo-port. */\n\t.section .rodata.dojo_items, \"a\"\n"
      "\t.globl dojo_items\ndojo_items:\n",
      t.name);
  out +=
      item(DOJO_ITEM_PORT, t.runner.port.size(), fmt::format("\t.ascii \"{}\"\n", t.runner.port));
  for (const Region& region : parts.regions) {
    out += item(DOJO_ITEM_REGION, 28 + region.name.size(),
                quad(region.base) + quad(region.size) + quad(0) +
                    fmt::format("\t.4byte {}\n\t.ascii \"{}\"\n", region.flags, region.name));
  }
  // Arm's ports say themselves which counter they found.
  for (std::size_t i = parts.arch.starts_with("riscv") ? 0 : 1; i < t.counters.size(); ++i) {
    const target::Counter& counter = t.counters[i];
    const std::optional<int> id = i == 0 ? DOJO_COUNTER_TIME : counterId(counter);
    if (!id) continue;
    out += item(DOJO_ITEM_COUNTER, 3 + counter.name.size(),
                fmt::format("\t.byte {}, {}\n\t.asciz \"{}\"\n", *id, counter.width, counter.name));
  }
  std::vector<std::string> services = {"dojo_parallel_for", "dojo_empty_kernel"};
  if (t.offersMapping("dma")) {
    services.insert(services.end(), {"dojo_dma_copy2d", "dojo_dma_wait", "dojo_dma_run"});
  }
  for (const std::string& name : services) {
    const std::string address = parts.word() == 8 ? fmt::format("\t.8byte {}\n", name)
                                                  : fmt::format("\t.4byte {}, 0\n", name);
    out +=
        item(DOJO_ITEM_SERVICE, 8 + name.size(), address + fmt::format("\t.ascii \"{}\"\n", name));
  }
  out += "\t.globl dojo_items_end\ndojo_items_end:\n";
  return out;
}

std::string linkerScript(const Parts& parts) {
  const bool small =
      parts.arch == "riscv32" && feature(*parts.target, "c") && !isBatch(*parts.target);
  const auto memory = [](const char* name, const Memory& at) {
    return fmt::format("  {} : ORIGIN = {:#x}, LENGTH = {:#x}\n", name, at.origin, at.length);
  };
  std::string out = fmt::format("/* Of target {}; written by dojo-port. */\nENTRY(dojo_start)\n",
                                parts.target->name);
  out += "MEMORY {\n" + memory("rom", *parts.rom);
  if (parts.ram != parts.rom) out += memory("ram", *parts.ram);
  out += "}\nSECTIONS {\n";
  if (parts.mailbox != nullptr) {
    out += fmt::format("  dojo_mailbox = {:#x};\n", parts.mailbox->origin);
  }
  out += R"(  .text : {
    dojo_image = .;
    KEEP(*(.text.dojo_start))
    *(EXCLUDE_FILE(*console_*) .text EXCLUDE_FILE(*console_*) .text.*)
  } > rom
  .rodata : {
    *(EXCLUDE_FILE(*console_*) .rodata EXCLUDE_FILE(*console_*) .rodata.*
      EXCLUDE_FILE(*console_*) .srodata EXCLUDE_FILE(*console_*) .srodata.*)
  } > rom
  .console : {
    *(.text .text.* .rodata .rodata.* .srodata .srodata.*)
    . = ALIGN(4);
    dojo_image_end = .;
  } > rom
  .htif : ALIGN(64) { *(.htif) } > rom
  .data : { *(.data .data.* .sdata .sdata.*) } > rom
  ASSERT(SIZEOF(.data) == 0, "variables begin as zero: nobody copies others")
)";
  out += fmt::format(
      "  .bss (NOLOAD) : ALIGN(16) {{\n    dojo_bss = .;\n"
      "    *(.sbss .sbss.* .bss .bss.* COMMON)\n"
      "    . = ALIGN(16);\n    dojo_bss_end = .;\n  }} > {0}\n"
      "  .stack (NOLOAD) : ALIGN(16) {{ . += {1}; dojo_stack_top = .; }} > {0}\n",
      parts.ram == parts.rom ? "rom" : "ram", parts.word() == 8 ? 4096 : 2048);
  out += R"(  PROVIDE(__global_pointer$ = dojo_bss + 0x7f0);
  /DISCARD/ : { *(.comment .note.* .eh_frame .eh_frame_hdr .ARM.exidx* .ARM.attributes
                  .riscv.attributes) }
)";
  if (small) {
    out += fmt::format(
        "  ASSERT(SIZEOF(.text) + SIZEOF(.rodata) <= 4096,\n"
        "         \"the firmware without its console is larger than 4 KiB\")\n"
        "  ASSERT(SIZEOF(.bss) <= 1024 + {},\n"
        "         \"the firmware takes more than 1 KiB of RAM besides its frame and stack\")\n",
        parts.target->runner.frameBytes);
  }
  return out + "}\n";
}

std::string cmake(const Parts& parts) {
  const Target& t = *parts.target;
  std::string flags = "--target=" + t.triple;
  if (parts.arch.starts_with("riscv")) {
    // Without floats: kernels own those registers.
    const bool wide = parts.arch == "riscv64";
    std::string march = wide ? "rv64i" : "rv32i";
    for (const char* letter : {"m", "a", "c"}) {
      if (feature(t, letter)) march += letter;
    }
    flags += fmt::format(
        " -march={}_zicsr_zifencei {}", march,
        wide ? "-mabi=lp64 -mcmodel=medany" : "-mabi=ilp32 -mcmodel=medlow -msave-restore");
  } else if (parts.arch == "aarch64") {
    flags += " -mgeneral-regs-only -mstrict-align";
  } else {
    flags += fmt::format(" -mcpu={} -mthumb -mfloat-abi=soft", t.cpu);
  }
  const auto kindOr = [](const std::string& kind, const char* none) {
    return kind.empty() ? std::string(none) : kind;
  };
  return fmt::format(
      "# Of target {}; written by dojo-port.\nset(DOJO_PORT {})\nset(DOJO_CONSOLE {})\n"
      "set(DOJO_TIMER {})\nset(DOJO_BATCH {})\nset(DOJO_FLAGS \"{}\")\n",
      t.name, t.runner.port, kindOr(t.runner.console.kind, "mailbox"),
      kindOr(t.runner.timer.kind, "none"), isBatch(t) ? "ON" : "OFF", flags);
}

}  // namespace

std::vector<Region> regions(const Target& target) {
  std::vector<Region> out;
  for (const std::string role : {"code", "data", "stack"}) {
    bool first = true;
    for (const Memory& memory : target.memories) {
      if (!hasRole(memory, role)) continue;
      unsigned flags = DOJO_REGION_READ | DOJO_REGION_WRITE;
      if (role == "code") flags |= DOJO_REGION_EXECUTE;
      if (role == "stack") flags = DOJO_REGION_STACK;
      out.push_back({first ? role : memory.name, memory.origin, memory.length, flags});
      first = false;
    }
  }
  return out;
}

Result<Files> firmwareFiles(const Target& target) {
  Parts parts;
  parts.target = &target;
  const std::string arch = target.triple.substr(0, target.triple.find('-'));
  parts.arch = arch.starts_with("thumb") || arch.starts_with("arm") ? "arm" : arch;
  if (parts.arch != "arm" && parts.arch != "aarch64" && parts.arch != "riscv32" &&
      parts.arch != "riscv64") {
    return lacks(target, "a triple of riscv32, riscv64, thumb..., arm... or aarch64");
  }
  for (const Memory& memory : target.memories) {
    if (memory.length == 0) return lacks(target, "a length of memory '" + memory.name + "'");
    const bool scratchpad = hasRole(memory, "scratchpad");
    if (memory.roles.size() > (scratchpad ? 2U : 1U)) {
      return lacks(target, "one role for memory '" + memory.name + "'; split it");
    }
  }
  parts.rom = withRole(target, "runner", 'x');
  parts.ram = withRole(target, "runner", 'w');
  if (parts.rom == nullptr || parts.ram == nullptr) {
    return lacks(target,
                 "memory with the role 'runner' that can be executed, and such that can be "
                 "written");
  }
  parts.mailbox = withRole(target, "mailbox", 'w');
  parts.regions = regions(target);
  for (const char* role : {"code", "data", "stack"}) {
    if (std::none_of(parts.regions.begin(), parts.regions.end(),
                     [role](const Region& region) { return region.name == role; })) {
      return lacks(target, fmt::format("a memory with the role '{}'", role));
    }
  }
  parts.stack = &*std::find_if(parts.regions.begin(), parts.regions.end(),
                               [](const Region& region) { return region.name == "stack"; });
  if (target.counters.empty()) return lacks(target, "the name of a counter");
  const std::string& console = target.runner.console.kind;
  const bool silent = console.empty() || console == "mailbox";
  if (silent && isBatch(target)) return lacks(target, "a console to print records on");
  if ((silent || isBatch(target)) && parts.mailbox == nullptr) {
    return lacks(target, "a memory with the role 'mailbox' (or a console and another transport)");
  }
  if (!target.runner.timer.kind.empty() && target.runner.timer.hz <= 0) {
    return lacks(target, "the rate 'hz' of its timer");
  }
  return Files{{"port_config.h", config(parts)},
               {"items.S", items(parts)},
               {"link.ld", linkerScript(parts)},
               {"port.cmake", cmake(parts)}};
}

}  // namespace dojo::generate
