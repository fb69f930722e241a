// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A kernel's buffers in the device's memory: one copy for each input set, guard bands around every
/// buffer, untouched copies of what is restored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/interpret.h"
#include "ir/program.h"
#include "transport/device.h"

namespace dojo::measure {

class Layout {
 public:
  /// Arranges and uploads. Error "load.size" gives what is needed and what there is.
  [[nodiscard]] static Result<std::unique_ptr<Layout>> make(
      transport::Device& device, const ir::Program& program,
      const std::vector<std::vector<ir::Tensor>>& inputSets, std::uint64_t seed);

  [[nodiscard]] int sets() const { return static_cast<int>(sets_.size()); }

  /// Writes all that kernels find: guard bands, inputs, restore lists.
  [[nodiscard]] Status upload();
  /// Places the buffers that this kernel gets after its arguments, and the argument tables.
  [[nodiscard]] Status placeScratch(const std::vector<std::int64_t>& bytes);
  /// Fills every output and scratch buffer with what no right result has.
  [[nodiscard]] Status poison(int firstSet, int count);
  /// Guard bands whole and inputs as they were: "verify.guard", "verify.input-changed".
  [[nodiscard]] Status checkIntact(int firstSet, int count);
  /// What a kernel left in its outputs, one span an argument, empty for `in`; valid until the next
  /// call of this function.
  [[nodiscard]] Result<std::vector<std::span<const std::byte>>> outputs(int set);

  /// Fills in what a CALL says of buffers: tables, restore list, and the range to evict.
  void aim(transport::Call& call, int firstSet, int count, bool evict) const;

 private:
  struct Place {
    std::string name;
    ir::Role role = ir::Role::in;
    bool isFloat = true;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::uint64_t pristine = 0;        ///< Of an inout: where it's restored from.
    std::span<const std::byte> input;  ///< What is there before a call.
  };

  explicit Layout(transport::Device& device) : device_(&device) {}
  /// `index`: of the buffer among those that the kernel is given.
  [[nodiscard]] Status allocate(Place& place, std::size_t index);
  [[nodiscard]] Status take(std::uint64_t bytes, std::uint64_t align, std::uint64_t& address);
  [[nodiscard]] Status writeGuards(const Place& place);
  [[nodiscard]] Status checkGuards(const Place& place);
  [[nodiscard]] Result<bool> holds(std::uint64_t address, std::span<const std::byte> expected);
  [[nodiscard]] Status writeTables();

  transport::Device* device_;
  std::uint64_t base_ = 0, size_ = 0, used_ = 0;  // of the data region
  std::uint64_t tables_ = 0, restore_ = 0;
  std::uint64_t timed_ = 0;  // where the buffers of set 0 begin: last, before scratch
  std::uint64_t beforeScratch_ = 0;
  std::size_t inouts_ = 0;
  std::uint32_t stride_ = 0;
  std::vector<std::vector<ir::Tensor>> inputs_;
  std::vector<std::vector<Place>> sets_;
  std::vector<Place> scratch_;
  std::vector<std::byte> guard_;
  std::vector<std::vector<std::byte>> fetched_;
  unsigned poisons_ = 0;
};

}  // namespace dojo::measure
