// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// snitch_top as a Model.
#include "Vsnitch_top.h"
#include "map.h"
#include "model.h"
#include "snitch_memory.h"
#include "snitch_observer.h"
#if VM_TRACE
#include "verilated_fst_c.h"
#endif

namespace dojo::rtl {

namespace {

class SnitchModel final : public Model {
 public:
  SnitchModel() {
    SnitchMemory::instance().lay(kRamOrigin, kRamBytes, kScratchpadOrigin, kScratchpadBytes);
    top_.trst_n = 1;
    top_.rst_n = 1;
    top_.system_rst_n = 1;
    top_.eval();
    top_.trst_n = 0;
    top_.rst_n = 0;
    run(2);
    // The machine leaves reset with the next cycle: memory can be filled before.
    top_.trst_n = 1;
    top_.rst_n = 1;
    top_.eval();
    cycles_ = 0;
  }
  ~SnitchModel() override {
    top_.final();
#if VM_TRACE
    if (waves_.isOpen()) waves_.close();
#endif
  }

  void run(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      if (top_.observe != 0) SnitchObserver::instance().setCycle(cycles_);
      top_.clk = 1;
      top_.eval();
      dump(2 * cycles_);
      top_.clk = 0;
      top_.eval();
      dump(2 * cycles_ + 1);
      ++cycles_;
    }
  }
  [[nodiscard]] std::uint64_t cycles() const override { return cycles_; }

  void setJtag(bool tck, bool tms, bool tdi) override {
    top_.tck = tck;
    top_.tms = tms;
    top_.tdi = tdi;
    top_.eval();
  }
  [[nodiscard]] bool tdo() const override { return top_.tdo != 0; }
  void setReset(bool port, bool system) override {
    top_.trst_n = !port;
    top_.system_rst_n = !system;
    top_.eval();
  }

  bool poke(std::uint64_t address, std::span<const std::byte> bytes) override {
    return SnitchMemory::instance().poke(address, bytes);
  }
  [[nodiscard]] bool peek(std::uint64_t address, std::span<std::byte> into) const override {
    return SnitchMemory::instance().peek(address, into);
  }

  void start(std::uint64_t entry) override {
    // The harts leave reset and go to sleep in the boot ROM first.
    constexpr int kLimit = 1000;
    for (int i = 0; i < kLimit && !idle(); ++i) run(1);
    top_.start_address = static_cast<std::uint32_t>(entry);
    top_.start = 1;
    run(1);
    top_.start = 0;
  }
  std::string shareMemory(const std::string& path) override {
    return SnitchMemory::instance().share(path);
  }

  std::string openLog(const std::string& path) override {
    top_.observe = 1;
    return SnitchObserver::instance().openLog(path);
  }
  std::string openEvents(const std::string& path) override {
    top_.observe = 1;
    return SnitchObserver::instance().openEvents(path);
  }

  void settle() override { SnitchObserver::instance().settle(); }

  [[nodiscard]] bool idle() const override { return top_.sleeping != 0; }

#if VM_TRACE
  std::string openTrace(const std::string& path) override {
    constexpr int kAllLevels = 99;
    top_.trace(&waves_, kAllLevels);
    waves_.open(path.c_str());
    return waves_.isOpen() ? "" : path + ": can't be written";
  }
#endif

 private:
#if VM_TRACE
  void dump(std::uint64_t time) {
    if (waves_.isOpen()) waves_.dump(time);
  }
  const bool traced_ = (Verilated::traceEverOn(true), true);  ///< Before the machine is made.
  VerilatedFstC waves_;
#else
  void dump(std::uint64_t /*time*/) {}
#endif
  mutable Vsnitch_top top_;
  std::uint64_t cycles_ = 0;
};

}  // namespace

std::unique_ptr<Model> makeModel() { return std::make_unique<SnitchModel>(); }

}  // namespace dojo::rtl
