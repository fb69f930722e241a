// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A machine under simulation, as the harness sees it: clocks, JTAG pins, and memory from outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace dojo::rtl {

class Model {
 public:
  virtual ~Model() = default;

  /// Lets the clock run; `count` cycles take place at once.
  virtual void run(std::uint64_t count) = 0;
  [[nodiscard]] virtual std::uint64_t cycles() const = 0;

  /// The JTAG pins; the clock of the machine stands still.
  virtual void setJtag(bool tck, bool tms, bool tdi) = 0;
  [[nodiscard]] virtual bool tdo() const = 0;
  /// The reset lines of the board (true: in reset): of the test access port, and of everything
  /// but the debug logic.
  virtual void setReset(bool port, bool system) = 0;

  /// Memory through the back door, in no simulated time. False: not all of it is memory.
  [[nodiscard]] virtual bool poke(std::uint64_t address, std::span<const std::byte> bytes) = 0;
  [[nodiscard]] virtual bool peek(std::uint64_t address, std::span<std::byte> into) const = 0;

  /// A program has been loaded: machines whose harts wait for that begin to run it there.
  virtual void start(std::uint64_t /*entry*/) {}
  /// Memory becomes a file that others can map, too. What went wrong; empty: nothing.
  [[nodiscard]] virtual std::string shareMemory(const std::string& path) {
    return path + ": this machine's memory can't be shared";
  }
  /// Writes down what each hart does, an instruction a line.
  [[nodiscard]] virtual std::string openLog(const std::string& path) {
    return path + ": this machine writes no log";
  }
  /// Counts what happens at each address of the program; written when the machine waits for its
  /// console, and at the end of the run.
  [[nodiscard]] virtual std::string openEvents(const std::string& path) {
    return path + ": this machine counts no events";
  }
  /// The machine waits for its console: what is counted is written.
  virtual void settle() {}
  /// Writes down all signals, in the format of GTKWave's FST.
  [[nodiscard]] virtual std::string openTrace(const std::string& path) {
    return path + ": this program was built without traces";
  }

  /// Nothing will happen but the passing of time until an interrupt or the debugger comes.
  [[nodiscard]] virtual bool idle() const = 0;
};

/// The model that this program is, after its power-on reset.
[[nodiscard]] std::unique_ptr<Model> makeModel();

}  // namespace dojo::rtl
