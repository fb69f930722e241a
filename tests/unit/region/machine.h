// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What a region's assembly does, without a clock: integer and floating-point instructions, data
/// movers that read ahead and write late, hardware loops. For comparing compiled regions with the
/// interpreter on many programs; cycles and encodings are the reference model's business.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace dojo::test {

class Machine {
 public:
  explicit Machine(std::size_t bytes) : memory_(bytes) {}

  std::vector<std::byte>& memory() { return memory_; }
  void setInteger(const std::string& reg, std::int64_t value);
  void setReal(const std::string& reg, double value);
  void setReal(const std::string& reg, float value);
  /// Runs to the end of the text. Throws std::runtime_error with the line and what is wrong with
  /// it: an unknown instruction, an address outside of memory, a stream at its end.
  void run(const std::string& text);
  /// Whether all streams have been used up and are switched off.
  [[nodiscard]] bool idle() const;

 private:
  struct Line {
    std::string operation;
    std::vector<std::string> operands;
    std::string text;
  };
  struct Mover {
    std::int64_t repeat = 1;
    std::array<std::int64_t, 4> bound{}, stride{};  ///< As configured: n - 1, relative.
    std::deque<std::uint32_t> addresses;            ///< Still to come.
    std::deque<std::uint64_t> ahead;                ///< Read already.
    std::int64_t handed = 0;                        ///< Times that the first was used.
    std::int64_t running = 1;                       ///< The repeat of what runs.
    bool write = false;
    std::deque<std::pair<std::uint32_t, std::uint64_t>> late;
  };

  void execute(std::size_t& at);
  void custom(const Line& line, std::size_t& at);
  void hardware(std::size_t& at);
  void configure(int mover, int where, std::int64_t value);
  void fill(Mover& mover);
  void routine(const std::string& name);
  void floating(const Line& line);
  void packed(const Line& line);
  std::uint64_t read(int reg);
  void write(int reg, std::uint64_t value);
  std::int64_t integer(const std::string& reg) const;
  std::uint32_t address(const std::string& operand) const;
  std::uint64_t load(std::uint32_t address, int size) const;
  void store(std::uint32_t address, int size, std::uint64_t value);
  [[noreturn]] void wrong(const std::string& why) const;
  [[nodiscard]] static bool isFloating(const Line& line);

  std::vector<std::byte> memory_;
  std::map<std::string, std::int64_t> integers_;
  std::array<std::uint64_t, 32> reals_{};
  std::array<Mover, 3> movers_;
  std::array<bool, 3> taken_{};  ///< By the instruction under way.
  std::array<std::uint64_t, 3> element_{};
  bool streams_ = false;
  std::vector<Line> lines_;
  std::map<std::string, std::vector<std::size_t>> labels_;
  const Line* now_ = nullptr;
};

}  // namespace dojo::test
