// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "snitch_observer.h"

#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <memory>

namespace dojo::rtl {

namespace {

constexpr std::array<const char*, 32> kInteger = {
    "zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
    "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
    "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
constexpr std::array<const char*, 32> kFloat = {
    "ft0", "ft1", "ft2", "ft3", "ft4",  "ft5",  "ft6", "ft7", "fs0",  "fs1", "fa0",
    "fa1", "fa2", "fa3", "fa4", "fa5",  "fa6",  "fa7", "fs2", "fs3",  "fs4", "fs5",
    "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"};
/// The fields of core_events_t, from bit 0 on.
constexpr std::array<const char*, 14> kNames = {
    "barrier",        "tcdm_conflict",    "fp_idle",       "fp_stall_memory", "fp_stall_stream",
    "fp_stall_write", "fp_stall_operand", "stall_offload", "stall_load",      "stall_operand",
    "stall_fetch",    "fpu_busy",         "fp_retired",    "retired"};

constexpr unsigned kIdle = 2;
/// Those that are told of the FP instruction: its stalls, what it's issued to, and the TCDM's.
constexpr unsigned kFloatEvents = 0b01'1000'0111'1110;

}  // namespace

SnitchObserver& SnitchObserver::instance() {
  static SnitchObserver observer;
  return observer;
}

SnitchObserver::~SnitchObserver() { close(); }

std::string SnitchObserver::openLog(const std::string& path) {
  log_.reset(std::fopen(path.c_str(), "w"));
  return log_ ? "" : path + ": " + std::strerror(errno);
}

std::string SnitchObserver::openEvents(const std::string& path) {
  eventsPath_ = path;
  return writeEvents() ? "" : path + ": " + std::strerror(errno);
}

bool SnitchObserver::writeEvents() {
  // A reader sees the old counts or the new ones, never half of them.
  const std::string fresh = eventsPath_ + ".new";
  std::unique_ptr<std::FILE, Closer> file(std::fopen(fresh.c_str(), "w"));
  if (!file) return false;
  std::FILE* const out = file.get();
  std::fprintf(out, "hart pc cycles");
  for (const char* const name : kNames) std::fprintf(out, " %s", name);
  std::fputc('\n', out);
  for (const auto& [key, counts] : counts_) {
    std::fprintf(out, "%" PRIu64 " %08" PRIx32 " %" PRIu64, key >> 32,
                 static_cast<std::uint32_t>(key), counts.cycles);
    for (const std::uint64_t count : counts.of) std::fprintf(out, " %" PRIu64, count);
    std::fputc('\n', out);
  }
  std::fprintf(out, "end\n");
  file.reset();
  written_ = cycle_;
  return std::rename(fresh.c_str(), eventsPath_.c_str()) == 0;
}

void SnitchObserver::settle() {
  if (!eventsPath_.empty() && written_ != cycle_) writeEvents();
}

void SnitchObserver::close() {
  settle();
  log_.reset();
}

void SnitchObserver::see(const Observation& seen) {
  if (log_) log(seen);
  if (!eventsPath_.empty()) count(seen);
}

void SnitchObserver::log(const Observation& seen) {
  if (!seen.ended && !seen.fpIssued && seen.integerRegister < 0 && seen.fpRegister < 0) return;
  std::FILE* const out = log_.get();
  std::fprintf(out, "%10" PRIu64 " %u ", cycle_, seen.hart);
  if (seen.ended) {
    std::fprintf(out, "%08" PRIx32, seen.pc);
    if (seen.instruction != 0) {
      std::fprintf(out, " %08" PRIx32, seen.instruction);
    } else {
      std::fprintf(out, " waited  ");
    }
  } else {
    std::fprintf(out, "%17s", "");
  }
  if (seen.fpIssued) std::fprintf(out, "  fp %08" PRIx32, seen.fpInstruction);
  if (seen.integerRegister >= 0) {
    std::fprintf(out, "  %s=%08" PRIx32, kInteger[static_cast<unsigned>(seen.integerRegister)],
                 seen.integerValue);
  }
  if (seen.fpRegister >= 0) {
    std::fprintf(out, "  %s=%016" PRIx64, kFloat[static_cast<unsigned>(seen.fpRegister)],
                 seen.fpValue);
  }
  std::fputc('\n', out);
}

SnitchObserver::Counts& SnitchObserver::countsAt(unsigned slot, unsigned hart, std::uint32_t pc) {
  auto& [lastPc, counts] = last_[hart & 15][slot];
  if (counts == nullptr || lastPc != pc) {
    lastPc = pc;
    counts = &counts_[std::uint64_t(hart) << 32 | pc];
  }
  return *counts;
}

void SnitchObserver::count(const Observation& seen) {
  Counts& integer = countsAt(0, seen.hart, seen.pc);
  const bool idle = (seen.happened >> kIdle & 1) != 0;
  Counts& floating = idle ? integer : countsAt(1, seen.hart, seen.fpPc);
  ++floating.cycles;
  for (std::size_t i = 0; i < kEvents; ++i) {
    Counts& one = (kFloatEvents >> i & 1) != 0 ? floating : integer;
    one.of[i] += seen.happened >> i & 1;
  }
}

}  // namespace dojo::rtl

extern "C" void snitch_observe(unsigned int hart, unsigned int did, unsigned int pc,
                               unsigned int instruction, unsigned int fp_instruction,
                               unsigned int fp_pc, unsigned char integer_register,
                               unsigned int integer_value, unsigned char fp_register,
                               unsigned long long fp_value, unsigned int happened) {
  dojo::rtl::Observation seen;
  seen.hart = hart;
  seen.ended = (did & 1) != 0;
  seen.fpIssued = (did & 2) != 0;
  seen.pc = pc;
  seen.instruction = instruction;
  seen.fpInstruction = fp_instruction;
  seen.fpPc = fp_pc;
  if ((did & 4) != 0) seen.integerRegister = integer_register & 31;
  if ((did & 8) != 0) seen.fpRegister = fp_register & 31;
  seen.integerValue = integer_value;
  seen.fpValue = fp_value;
  seen.happened = happened;
  dojo::rtl::SnitchObserver::instance().see(seen);
}
