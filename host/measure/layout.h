// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A kernel's buffers in the device's memory: one copy for each input set, guard bands around every
/// buffer, untouched copies of what is restored. Arguments that a kernel wants packed otherwise are
/// packed anew here, as its caller would, and lie beside those that others use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
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

  /// Refuses what the device certainly can't hold ("load.size", with both numbers): the arguments
  /// of `program` for so many input sets, and what a kernel is given after them.
  [[nodiscard]] static Status fits(const transport::Hello& hello, const ir::Program& program,
                                   int sets, const std::vector<std::int64_t>& scratchBytes);

  [[nodiscard]] int sets() const { return static_cast<int>(sets_.size()); }

  /// Writes all that kernels find: guard bands, inputs, restore lists.
  [[nodiscard]] Status upload();
  /// Places what this kernel alone is given: the arguments that it wants in another layout
  /// (`arguments` as it declares them; empty: as the layout was made for), the buffers that come
  /// after its arguments, and the argument tables.
  [[nodiscard]] Status place(const std::vector<ir::Buffer>& arguments,
                             const std::vector<std::int64_t>& scratchBytes);
  /// Fills every output and scratch buffer with what no right result has.
  [[nodiscard]] Status poison(int firstSet, int count);
  /// Restores the inouts of these sets from here, which takes the device no time; false where their
  /// memory isn't shared.
  [[nodiscard]] bool restore(int firstSet, int count);
  /// Guard bands whole and inputs as they were: "verify.guard", "verify.input-changed".
  [[nodiscard]] Status checkIntact(int firstSet, int count);
  /// What a kernel left in its outputs, one span an argument, empty for `in`, in the layout that
  /// this was made for; valid until the next call of this function.
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
  /// The inputs of one argument in another layout.
  struct Repacked {
    std::size_t argument = 0;
    ir::Buffer as;
    std::vector<ir::Tensor> inputs;  ///< By set.
  };

  /// A memory that the target names, for arguments that are said to lie there.
  struct Far {
    std::uint64_t base = 0, size = 0, used = 0;
    std::uint64_t beforeRepacked = 0;
  };

  explicit Layout(transport::Device& device) : device_(&device) {}
  /// `index`: of the buffer among those that the kernel is given.
  [[nodiscard]] Status allocate(Place& place, std::size_t index);
  [[nodiscard]] Status allocate(Place& place, Far& far) const;
  [[nodiscard]] Status take(std::uint64_t bytes, std::uint64_t align, std::uint64_t& address);
  /// The argument in `set`, allocated with what it is restored from.
  [[nodiscard]] Result<Place> allocateArgument(const ir::Buffer& buffer, std::size_t index,
                                               std::span<const std::byte> input);
  /// What lies there before a call, guard bands included.
  void contents(const Place& place, std::vector<transport::Piece>& into) const;
  [[nodiscard]] Status placeRepacked(const std::vector<ir::Buffer>& arguments);
  [[nodiscard]] std::shared_ptr<const Repacked> repacked(std::size_t argument,
                                                         const ir::Buffer& as);
  void guards(const Place& place, std::vector<transport::Piece>& into) const;
  [[nodiscard]] Status writeTables(std::vector<transport::Piece> scratch);
  [[nodiscard]] Status writeRestoreList();
  /// The bytes of a buffer that a kernel left: as they lie there, else copied here.
  [[nodiscard]] Result<std::span<const std::byte>> left(std::size_t set, std::size_t index);

  transport::Device* device_;
  std::uint64_t base_ = 0, size_ = 0, used_ = 0;  // of the data region
  std::map<std::string, Far> far_;                // by location
  std::uint64_t tables_ = 0, restore_ = 0;
  std::uint64_t timed_ = 0;  // where the buffers of set 0 begin: last, before scratch
  std::uint64_t beforeRepacked_ = 0, beforeScratch_ = 0;
  std::size_t inouts_ = 0;
  std::uint32_t stride_ = 0;
  std::vector<ir::Buffer> arguments_;
  std::vector<std::vector<ir::Tensor>> inputs_;
  std::vector<std::vector<Place>> plain_;          ///< By set and argument, as this was made for.
  std::vector<std::vector<Place>> sets_;           ///< As the kernel that is placed is given them.
  std::optional<std::vector<ir::Buffer>> placed_;  ///< What `sets_` was made for.
  std::vector<std::shared_ptr<const Repacked>> inUse_;  ///< By argument; none: plain.
  std::deque<std::shared_ptr<const Repacked>> kept_;    ///< The latest first.
  std::vector<Place> scratch_;
  std::vector<std::byte> guard_;
  std::vector<std::vector<std::byte>> fetched_;
  /// What was read last of a stretch of memory; most kernels leave the same there.
  std::map<std::uint64_t, std::vector<std::byte>> read_;
  unsigned poisons_ = 0;
};

}  // namespace dojo::measure
