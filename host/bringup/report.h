// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What bringing a device up found, step by step.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace dojo::bringup {

enum class Verdict : std::uint8_t {
  ok,
  note,     ///< Not wrong, but worth knowing: the file or its user may want to change something.
  failed,   ///< The device or its description is wrong.
  skipped,  ///< Couldn't be asked here; `seen` says why.
};
[[nodiscard]] const char* name(Verdict verdict);

struct Step {
  std::string name;  ///< Stable: "hello", "echo", "memory.data", "isa", ...
  Verdict verdict = Verdict::ok;
  std::string seen = {};    ///< One sentence.
  std::string advice = {};  ///< What to try; where it failed or is noted.
  double seconds = 0;
  std::vector<std::string> lines = {};  ///< Further facts: one extension, one size of a curve, ...
};

/// Figures that `--peak` writes into a description.
struct Peaks {
  std::map<std::string, double> opsPerCycle;    ///< By dtype.
  std::map<std::string, double> bytesPerCycle;  ///< By memory.
};

struct Report {
  std::string target;
  std::string file;
  std::string device;  ///< What was at the other end.
  std::vector<Step> steps;
  Peaks peaks;

  [[nodiscard]] int count(Verdict verdict) const;
  [[nodiscard]] bool passed() const { return count(Verdict::failed) == 0; }
};

/// Told of each step as it ends, so that it can be printed as it happens.
using OnStep = std::function<void(const Step&)>;
/// Told of a step that begins.
using OnBegin = std::function<void(const std::string& step)>;

/// JUnit's XML: one test case a step.
[[nodiscard]] std::string junit(const Report& report);

}  // namespace dojo::bringup
