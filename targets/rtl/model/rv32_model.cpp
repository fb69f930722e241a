// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rv32_top as a Model.
#include <cstring>

#include "Vrv32_top.h"
#include "Vrv32_top___024root.h"
#include "map.h"
#include "model.h"

namespace dojo::rtl {

namespace {

class Rv32Model final : public Model {
 public:
  Rv32Model() {
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
  ~Rv32Model() override { top_.final(); }

  void run(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      top_.clk = 1;
      top_.eval();
      top_.clk = 0;
      top_.eval();
    }
    cycles_ += count;
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
    if (!inMemory(address, bytes.size())) return false;
    std::memcpy(memory() + (address - kRamOrigin), bytes.data(), bytes.size());
    return true;
  }
  [[nodiscard]] bool peek(std::uint64_t address, std::span<std::byte> into) const override {
    if (!inMemory(address, into.size())) return false;
    std::memcpy(into.data(), memory() + (address - kRamOrigin), into.size());
    return true;
  }

  [[nodiscard]] bool idle() const override { return top_.sleeping != 0 || top_.halted != 0; }

 private:
  static bool inMemory(std::uint64_t address, std::size_t size) {
    return address >= kRamOrigin && address - kRamOrigin <= kRamBytes &&
           size <= kRamBytes - (address - kRamOrigin);
  }
  // The words of the array lie one after another, in the byte order of this machine: little.
  [[nodiscard]] std::byte* memory() const {
    static_assert(sizeof(top_.rootp->rv32_top__DOT__ram__DOT__words) == kRamBytes);
    return reinterpret_cast<std::byte*>(&top_.rootp->rv32_top__DOT__ram__DOT__words[0]);
  }

  mutable Vrv32_top top_;
  std::uint64_t cycles_ = 0;
};

}  // namespace

std::unique_ptr<Model> makeModel() { return std::make_unique<Rv32Model>(); }

}  // namespace dojo::rtl
