// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What the harts of the Snitch cluster do, as snitch_cc.sv tells it cycle by cycle: a log that
/// people can read, and counts for profiles.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>

namespace dojo::rtl {

/// One cycle of one hart.
struct Observation {
  unsigned hart = 0;
  bool ended = false;     ///< The instruction at pc.
  bool fpIssued = false;  ///< fpInstruction, to the FPU or the FP load/store unit.
  std::uint32_t pc = 0, instruction = 0;
  std::uint32_t fpInstruction = 0, fpPc = 0;  ///< What the FP side issues, or holds back.
  int integerRegister = -1, fpRegister = -1;  ///< Written; -1: none.
  std::uint32_t integerValue = 0;
  std::uint64_t fpValue = 0;
  std::uint32_t happened = 0;  ///< core_events_t.
};

class SnitchObserver {
 public:
  /// The one that the machine talks to.
  static SnitchObserver& instance();
  ~SnitchObserver();

  /// A line for each cycle in which a hart did something: cycle, hart, address and word of the
  /// instruction that ended (`waited`: wfi or the barrier, whose word is gone by then), then `fp`
  /// and the word of one issued to the FP side, then what was written. What went wrong; empty:
  /// nothing.
  [[nodiscard]] std::string openLog(const std::string& path);
  /// Counts, for each hart and address, the cycles and all of core_events_t; written by settle()
  /// and close(). A cycle belongs to the instruction that the FP side issues or holds back, where
  /// there is one, else to the one at which the integer core stands; an event to its part's.
  [[nodiscard]] std::string openEvents(const std::string& path);
  /// Writes the counts so far, where there are new ones.
  void settle();
  void close();

  void setCycle(std::uint64_t cycle) { cycle_ = cycle; }
  void see(const Observation& seen);

 private:
  static constexpr std::size_t kEvents = 14;
  struct Counts {
    std::uint64_t cycles = 0;
    std::array<std::uint64_t, kEvents> of{};
  };
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  bool writeEvents();
  void log(const Observation& seen);
  void count(const Observation& seen);
  Counts& countsAt(unsigned slot, unsigned hart, std::uint32_t pc);

  std::unique_ptr<std::FILE, Closer> log_;
  std::string eventsPath_;                  ///< Empty: nothing is counted.
  std::uint64_t written_ = 0;               ///< The cycle up to which the file counts.
  std::map<std::uint64_t, Counts> counts_;  ///< By hart << 32 | pc.
  /// Of each hart's integer core and FP side.
  std::array<std::array<std::pair<std::uint32_t, Counts*>, 2>, 16> last_{};
  std::uint64_t cycle_ = 0;
};

}  // namespace dojo::rtl
