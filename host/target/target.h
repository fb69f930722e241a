// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Target descriptions: what a chip has, read from targets/NAME.json.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace dojo::target {

struct Memory {
  std::string name;
  std::uint64_t origin = 0;
  std::uint64_t length = 0;  ///< Bytes; 0: what the runner reports.
  std::string access = "rwx";
  bool cached = true;
  std::vector<std::string> roles;  ///< code, data, stack, mailbox, scratchpad
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

struct Counter {
  std::string name;  ///< "tsc", "mcycle"
  int width = 64;
  std::string event = "cycles";
};

struct Runner {
  std::string port;         ///< "linux"
  std::string transport;    ///< "command"
  std::string command;      ///< command template of the transport; {runner} is the built runner
  double helloSeconds = 5;  ///< time limit of reaching the device
  double callSeconds = 10;  ///< time limit of one CALL
};

struct Target {
  std::string name;
  std::string file;  ///< Where it was read from.
  std::string description;
  std::string triple, cpu, features, abi, codeModel;
  std::vector<Memory> memories;
  int harts = 1;  ///< 0 in the file: as many as the machine has.
  VectorUnit vector;
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
