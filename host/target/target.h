// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Target descriptions: what a chip has, read from targets/NAME.json.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/program.h"

namespace dojo::target {

struct Memory {
  std::string name;
  std::uint64_t origin = 0;
  std::uint64_t length = 0;  ///< Bytes; 0: what the runner reports.
  std::string access = "rwx";
  bool cached = true;
  /// What may lie there: runner (its code, constants and variables), code and data (of kernels),
  /// stack, mailbox, scratchpad.
  std::vector<std::string> roles;
  int banks = 0;
  int bankWidth = 0;
};

struct VectorUnit {
  int bits = 0;  ///< Width of a vector register; 0: no vectors.
  bool scalable = false;
  /// A vector scope may have lanes(dtype) * grouping iterations (LMUL, or registers ganged by the
  /// code generator).
  int grouping = 1;
  std::vector<std::string> types;  ///< dtype names handled natively
  bool fma = false;
  int registers = 0;
};

/// Data movers that feed a loop's memory operands through register names (stream semantic
/// registers of the Snitch cluster).
struct StreamUnit {
  int movers = 0;           ///< 0: there are none.
  int dims = 4;             ///< Of an affine stream.
  int indirect = 0;         ///< How many of the movers can gather through an index array.
  std::int64_t bound = 0;   ///< Most iterations of a dim; 0: no limit.
  std::int64_t repeat = 1;  ///< Most times that one element is handed out.
  std::string memory;       ///< Name of the memory that they reach.
};

/// A loop of floating-point instructions repeated by hardware (FREP of the Snitch cluster).
struct HardwareLoop {
  int instructions = 0;         ///< Most in a body; 0: there is none.
  std::int64_t iterations = 0;  ///< Most of one loop.
  int stagger = 0;              ///< Most registers that an operand can step through; 0: none.
  int nesting = 1;              ///< How deep loops may stand in one another.
};

/// One of the vendor's instructions (design: targets.md, `instructions`).
struct VendorInstruction {
  std::string name;
  ir::Instruction fragment;  ///< What it computes.
  /// Assembly, with {operand} where that operand's register or memory goes.
  std::string assembly;
  /// By operand, in the order of the fragment's: what kind of register holds it, in the letters of
  /// LLVM's and GCC's inline assembly ("r", "f", "v", ...), or "m": its address.
  std::vector<std::string> constraints;
  double cost = 1;  ///< Cycles each.
};

struct Counter {
  std::string name;  ///< "tsc", "mcycle"
  int width = 64;
  std::string event = "cycles";
};

/// A device's register block that the firmware drives: its console or its timer.
struct Peripheral {
  std::string kind;           ///< "ns16550", "model", "htif", ...; "clint", "systick", ...
  std::uint64_t address = 0;  ///< Of its first register.
  double hz = 0;              ///< Its input clock (console) or its ticks a second (timer).
  int stride = 1;             ///< Bytes from one register to the next.
  bool operator==(const Peripheral&) const = default;
};

/// A command that brings a dead device back, and how long it may take.
struct Remedy {
  std::string command;  ///< Empty: there is none.
  double seconds = 10;
};

struct Runner {
  std::string port;  ///< Folder of runner/ports, or "linux".
  /// File name of the built firmware. Read: "dojo-runner-linux" (with "-ARCH" of another machine)
  /// or "dojo-runner-TARGET.elf" where the file names none.
  std::string image;
  std::string transport;  ///< "command", "serial", "socket", "verilator", "gdb", "openocd", "batch"
  /// Command template: of the process whose standard streams are the link (command), or that is
  /// started before the transport connects (an emulator, a debug server; empty: it runs already).
  /// {runner} is the built runner, {dir} a folder of this run for sockets and images.
  std::string command;
  std::string device;        ///< serial: the line ("/dev/ttyUSB0"; "{dir}/line" of an emulator)
  int baud = 115200;         ///< serial, and what the firmware sets its UART to
  std::string address;       ///< socket, gdb, openocd: "HOST:PORT" or "unix:PATH"
  std::string resetLine;     ///< serial: "", "dtr" or "rts", pulsed to reset the board
  Remedy reset;              ///< The board's own reset command, tried first.
  Remedy powerCycle;         ///< Tried when no reset helped.
  double helloSeconds = 5;   ///< time limit of reaching the device
  double answerSeconds = 5;  ///< time limit of an answer
  double callSeconds = 10;   ///< time limit of one CALL
  Peripheral console;        ///< What the firmware talks through; kind empty: none or a mailbox.
  Peripheral timer;          ///< What stops a kernel that doesn't return; kind empty: nothing.
  int frameBytes = 2048;     ///< Largest frame that the firmware accepts.
  int window = 8;            ///< Samples that it keeps, a power of two.
};

struct Target {
  std::string name;
  std::string file;  ///< Where it was read from.
  std::string description;
  std::string triple, cpu, features, abi, codeModel;
  std::vector<Memory> memories;
  int harts = 1;  ///< 0 in the file: as many as the machine has.
  VectorUnit vector;
  StreamUnit streams;
  HardwareLoop hardwareLoop;
  /// Floating-point division and square root are instructions; without, they are computed by
  /// Newton's iteration (within 1 ULP).
  bool divides = true;
  std::vector<VendorInstruction> instructions;
  std::vector<std::string> mappings;   ///< Mapping names offered, ir.md section 4.
  std::vector<std::string> locations;  ///< Buffer locations offered: heap, stack, register, ...
  std::int64_t stackBytes = 0;         ///< Most bytes of `stack` buffers live at once.
  std::int64_t unrollLimit = 0;        ///< Most leaf instances after unrolling.
  std::vector<Counter> counters;
  /// Operations per cycle per dtype and bytes per cycle per memory; empty: not known.
  std::map<std::string, double> peakOps, peakBytes;
  Runner runner;
  bool cyclesAreTime = true;  ///< False for emulators: instruction counts.
  std::string triedOn;        ///< "hardware", "emulator: ...", "nothing"
  std::string hash;           ///< Of the resolved description.

  [[nodiscard]] bool offersMapping(const std::string& mapping) const;
  [[nodiscard]] bool offersLocation(const std::string& location) const;
  /// nullptr: it has none of that name.
  [[nodiscard]] const VendorInstruction* instruction(const std::string& name) const;
  /// Elements of `bytes` size in one vector register; 1 without vectors.
  [[nodiscard]] int lanes(int bytes) const {
    return vector.bits == 0 ? 1 : vector.bits / 8 / bytes;
  }
};

/// Reads a target by name (targets/NAME.json beside the installation or the source tree) or by
/// path (anything with a '/' or ending in ".json"). Resolves `base` and "native" values. Errors
/// name file, key and what was expected: "target.*".
[[nodiscard]] Result<Target> load(const std::string& nameOrPath);
/// Names of the targets that ship, sorted.
[[nodiscard]] std::vector<std::string> shipped();

}  // namespace dojo::target
