// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "target/target.h"

#include <algorithm>
#include <thread>

#include "target/instructions.h"
#include "target/reader.h"

namespace dojo::target {

bool Target::offersMapping(const std::string& mapping) const {
  return std::find(mappings.begin(), mappings.end(), mapping) != mappings.end();
}

bool Target::offersLocation(const std::string& location) const {
  return std::find(locations.begin(), locations.end(), location) != locations.end();
}

const VendorInstruction* Target::instruction(const std::string& wanted) const {
  const auto found =
      std::find_if(instructions.begin(), instructions.end(),
                   [&](const VendorInstruction& each) { return each.name == wanted; });
  return found == instructions.end() ? nullptr : &*found;
}

namespace {

#if defined(__x86_64__)
constexpr const char* kHostArch = "x86_64";
#elif defined(__aarch64__)
constexpr const char* kHostArch = "aarch64";
#else
constexpr const char* kHostArch = "";
#endif

/// What "native" stands for: facts of the machine that runs this program.
struct Native {
  int vectorBits = 128;
  int vectorRegisters = 16;
  int harts = 1;
};

Native native() {
  Native out;
  out.harts = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) out.vectorBits = 256;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
    out.vectorBits = 512;
    out.vectorRegisters = 32;
  }
#endif
  return out;
}

Memory readMemory(Reader& in) {
  Memory out;
  out.name = in.requiredText("name");
  out.origin = static_cast<std::uint64_t>(in.number("origin", 0, 0));
  out.length = static_cast<std::uint64_t>(in.number("length", 0, 0));
  out.access = in.text("access", "rwx");
  out.cached = in.flag("cached", true);
  out.roles = in.texts("roles", {"runner", "code", "data", "stack", "mailbox", "scratchpad"});
  out.banks = static_cast<int>(in.number("banks", 0, 0));
  out.bankWidth = static_cast<int>(in.number("bank_width", 0, 0));
  in.finish();
  return out;
}

VectorUnit readVector(Reader in) {
  VectorUnit out;
  out.bits = static_cast<int>(in.numberOrNative("bits", 0, native().vectorBits));
  out.scalable = in.flag("scalable", false);
  out.grouping = static_cast<int>(in.number("grouping", 1, 1));
  out.types =
      in.texts("types", {"f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u8", "bool"});
  out.fma = in.flag("fma", false);
  out.registers = static_cast<int>(in.numberOrNative("registers", 0, native().vectorRegisters));
  in.finish();
  if (out.bits != 0 && (out.bits < 64 || (out.bits & (out.bits - 1)) != 0)) {
    in.fail("bits", "a power of two of at least 64, or 0 for no vector unit");
  }
  return out;
}

StreamUnit readStreams(Reader in) {
  StreamUnit out;
  out.movers = static_cast<int>(in.number("movers", 0, 1));
  out.dims = static_cast<int>(in.number("dims", 4, 1));
  out.indirect = static_cast<int>(in.number("indirect", 0, 0));
  out.bound = in.number("bound", 0, 0);
  out.repeat = in.number("repeat", 1, 1);
  out.memory = in.requiredText("memory");
  in.finish();
  return out;
}

HardwareLoop readHardwareLoop(Reader in) {
  HardwareLoop out;
  out.instructions = static_cast<int>(in.number("instructions", 0, 1));
  out.iterations = in.number("iterations", 0, 1);
  out.stagger = static_cast<int>(in.number("stagger", 0, 0));
  out.nesting = static_cast<int>(in.number("nesting", 1, 1));
  in.finish();
  return out;
}

Counter readCounter(Reader& in) {
  Counter out;
  out.name = in.requiredText("name");
  out.width = static_cast<int>(in.number("width", 64, 1));
  out.event = in.text("event", "cycles");
  in.finish();
  return out;
}

Peripheral readPeripheral(Reader in, const std::vector<std::string>& kinds) {
  Peripheral out;
  out.kind = in.oneOf("kind", kinds);
  out.address = static_cast<std::uint64_t>(in.number("address", 0, 0));
  out.hz = in.real("hz", 0);
  out.stride = static_cast<int>(in.number("stride", 1, 1));
  in.finish();
  return out;
}

Remedy readRemedy(Reader in) {
  Remedy out;
  out.command = in.requiredText("command");
  out.seconds = in.real("seconds", 10);
  in.finish();
  return out;
}

Runner readRunner(Reader in, const std::string& target, const std::string& triple) {
  Runner out;
  out.port = in.requiredText("port");
  const std::string arch = triple.substr(0, triple.find('-'));
  std::string image = "dojo-runner-" + target + ".elf";
  if (out.port == "linux") image = "dojo-runner-linux" + (arch == kHostArch ? "" : "-" + arch);
  out.image = in.text("image", image);
  out.transport = in.oneOf("transport",
                           {"command", "serial", "socket", "verilator", "openocd", "gdb", "batch"});
  out.command = in.text("command", "");
  out.device = in.text("device", "");
  out.baud = static_cast<int>(in.number("baud", 115200, 1));
  out.address = in.text("address", "");
  out.resetLine = in.oneOf("reset_line", {"", "dtr", "rts"});
  if (in.has("reset")) out.reset = readRemedy(in.object("reset"));
  if (in.has("power_cycle")) out.powerCycle = readRemedy(in.object("power_cycle"));
  out.helloSeconds = in.real("hello_seconds", 5);
  out.answerSeconds = in.real("answer_seconds", 5);
  out.callSeconds = in.real("call_seconds", 10);
  if (in.has("console")) {
    out.console = readPeripheral(in.object("console"), {"ns16550", "sifive", "pl011", "cmsdk",
                                                        "semihosting", "mailbox", "model", "htif"});
  }
  if (in.has("timer")) {
    out.timer = readPeripheral(in.object("timer"), {"clint", "systick", "generic", "none"});
    if (out.timer.kind == "none") out.timer = {};
  }
  out.frameBytes = static_cast<int>(in.number("frame_bytes", 2048, 256));
  out.window = static_cast<int>(in.number("window", 8, 2));
  in.finish();
  if (out.window > 128 || (out.window & (out.window - 1)) != 0) {
    in.fail("window", "a power of two from 2 to 128");
  }
  return out;
}

void checkStreams(const Target& target, Reader& in) {
  if (target.streams.movers == 0) return;
  const auto named = [&target](const Memory& memory) {
    return memory.name == target.streams.memory;
  };
  if (std::none_of(target.memories.begin(), target.memories.end(), named)) {
    in.fail("streams", "the name of a memory, not '" + target.streams.memory + "'");
  }
}

void checkOverlaps(const Target& target, Reader& in) {
  for (std::size_t i = 0; i < target.memories.size(); ++i) {
    for (std::size_t j = i + 1; j < target.memories.size(); ++j) {
      const Memory& a = target.memories[i];
      const Memory& b = target.memories[j];
      if (a.name == b.name) in.fail("memories", "distinct names, not two called '" + a.name + "'");
      if (a.length != 0 && b.length != 0 && a.origin < b.origin + b.length &&
          b.origin < a.origin + a.length) {
        in.fail("memories", "no overlap, but '" + a.name + "' and '" + b.name + "' do");
      }
    }
  }
}

Target readTarget(Reader in) {
  Target out;
  out.name = in.requiredText("name");
  out.description = in.text("description", "");
  out.triple = in.requiredText("triple");
  out.cpu = in.text("cpu", "");
  out.features = in.text("features", "");
  out.abi = in.text("abi", "");
  out.codeModel = in.oneOf("code_model", {"", "small", "medium", "large", "medany", "medlow"});
  out.harts = static_cast<int>(in.numberOrNative("harts", 1, native().harts));
  if (out.harts < 1) in.fail("harts", "at least 1, or \"native\"");
  in.each("memories", [&out](Reader& memory) { out.memories.push_back(readMemory(memory)); });
  if (in.has("vector")) out.vector = readVector(in.object("vector"));
  if (in.has("streams")) out.streams = readStreams(in.object("streams"));
  if (in.has("hardware_loop")) out.hardwareLoop = readHardwareLoop(in.object("hardware_loop"));
  out.divides = in.flag("divides", true);
  in.each("instructions", [&out](Reader& each) { readInstruction(each, out); });
  out.mappings = in.texts("mappings", {"unroll", "vector", "parallel", "stream", "frep", "dma",
                                       "grid", "block", "warp"});
  out.locations = in.texts("locations", {});
  out.stackBytes = in.number("stack_bytes", 0, 0);
  out.unrollLimit = in.number("unroll_limit", 1024, 1);
  in.each("counters", [&out](Reader& counter) { out.counters.push_back(readCounter(counter)); });
  out.cyclesAreTime = in.flag("cycles_are_time", true);
  if (in.has("peak")) {
    Reader peak = in.object("peak");
    out.peakOps = peak.numbers("ops_per_cycle");
    out.peakBytes = peak.numbers("bytes_per_cycle");
    peak.finish();
  }
  if (in.has("runner")) {
    out.runner = readRunner(in.object("runner"), out.name, out.triple);
  } else {
    in.fail("runner", "an object that says how the runner is reached");
  }
  out.triedOn = in.requiredText("tried_on");
  in.finish();
  checkOverlaps(out, in);
  checkStreams(out, in);
  return out;
}

}  // namespace

Result<Target> load(const std::string& nameOrPath) {
  Result<Document> document = readDocument(nameOrPath);
  if (!document) return document.error();
  Problems problems;
  Target target = readTarget(Reader(document->json, document->file, "", problems));
  if (problems.first) return *problems.first;
  target.file = document->file;
  target.hash = document->hash;
  return target;
}

}  // namespace dojo::target
