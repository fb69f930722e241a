// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/layout.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "protocol/abi.h"
#include "protocol/protocol.h"
#include "transport/frame.h"

namespace dojo::measure {
namespace {

using transport::put;

/// On both sides of a buffer.
constexpr std::uint64_t kGuardBytes = std::uint64_t{5} * DOJO_BUFFER_ALIGN;
/// A load waits for an earlier store that it has nothing to do with where their addresses agree in
/// the lowest bits. So the n-th buffer of a set begins this far below the offset in a page at which
/// the one before it does: a loop that writes a later buffer meets what it reads of an earlier one
/// only most of a page ahead, and the other way round not within some hundred elements.
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kStagger = std::uint64_t{13} * DOJO_BUFFER_ALIGN;
/// Inputs in other layouts that are kept for the next kernel that wants them.
constexpr std::size_t kKeptPackings = 6;
/// Room for one argument table.
constexpr std::uint32_t kTableBytes = 1024;

std::uint64_t roundUp(std::uint64_t value, std::uint64_t align) {
  return (value + align - 1) / align * align;
}

Error tooLarge(std::size_t sets, std::uint64_t needed, std::uint64_t size) {
  return {"load.size",
          fmt::format("the kernel's buffers for {} input sets need at least {} bytes of device "
                      "memory and there are {}",
                      sets, needed, size),
          "", ""};
}

/// What a buffer takes at least.
std::uint64_t roomFor(std::int64_t bytes) {
  return static_cast<std::uint64_t>(bytes) + 2 * kGuardBytes;
}
std::uint64_t roomFor(const ir::Buffer& argument) {
  return roomFor(argument.storageBytes()) * (argument.role == ir::Role::inout ? 2 : 1);
}

Status fitsTable(std::size_t entries, int pointerBytes) {
  const std::size_t most = kTableBytes / static_cast<std::size_t>(pointerBytes);
  if (entries <= most) return {};
  return Error{"load.size",
               fmt::format("the kernel has {} buffers, and {} can be passed", entries, most)};
}

}  // namespace

Status Layout::fits(const transport::Hello& hello, const ir::Program& program, int sets,
                    const std::vector<std::int64_t>& scratchBytes) {
  std::uint64_t needed = 0;
  std::size_t entries = scratchBytes.size();
  for (const ir::Buffer& buffer : program.buffers) {
    if (!buffer.isArgument()) continue;
    ++entries;
    needed += roomFor(buffer) * static_cast<std::uint64_t>(sets);
  }
  for (const std::int64_t bytes : scratchBytes) needed += roomFor(bytes);
  if (Status table = fitsTable(entries, hello.pointerBytes); !table) return table;
  const transport::Region* data = hello.region("data");
  if (data == nullptr || needed <= data->size) return {};
  return tooLarge(static_cast<std::size_t>(sets), needed, data->size);
}

Status Layout::take(std::uint64_t bytes, std::uint64_t align, std::uint64_t& address) {
  const std::uint64_t start = roundUp(base_ + used_, align) - base_;
  if (bytes > size_ || start > size_ - bytes) {
    return tooLarge(inputs_.size(), start + bytes, size_);
  }
  address = base_ + start;
  used_ = start + bytes;
  return {};
}

Status Layout::allocate(Place& place, std::size_t index) {
  std::uint64_t start = 0;
  const std::uint64_t offset = (kPage - index * kStagger % kPage) % kPage;
  const std::uint64_t from = base_ + used_ + kGuardBytes;
  used_ += (offset + kPage - from % kPage) % kPage;
  const std::uint64_t body = roundUp(place.bytes, DOJO_BUFFER_ALIGN);
  Status taken = take(body + 2 * kGuardBytes, DOJO_BUFFER_ALIGN, start);
  place.address = start + kGuardBytes;
  return taken;
}

Result<std::unique_ptr<Layout>> Layout::make(transport::Device& device, const ir::Program& program,
                                             const std::vector<std::vector<ir::Tensor>>& inputSets,
                                             std::uint64_t seed) {
  DOJO_CHECK(!inputSets.empty(), "a session needs at least one input set");
  std::unique_ptr<Layout> layout(new Layout(device));
  const transport::Region* data = device.hello().region("data");
  if (data == nullptr) {
    return Error{"load.size", "the device has no memory region named 'data'"};
  }
  layout->base_ = data->base;
  layout->size_ = data->size;
  layout->inputs_ = inputSets;
  std::uint64_t state = seed * 0x9e3779b97f4a7c15U + 1;
  for (std::uint64_t i = 0; i < kGuardBytes; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    layout->guard_.push_back(static_cast<std::byte>(state >> 56));
  }

  const std::uint64_t sets = inputSets.size();
  for (const ir::Buffer& buffer : program.buffers) {
    if (!buffer.isArgument()) continue;
    layout->arguments_.push_back(buffer);
    layout->inouts_ += buffer.role == ir::Role::inout ? 1 : 0;
  }
  Status taken = layout->take(sets * kTableBytes, DOJO_BUFFER_ALIGN, layout->tables_);
  if (taken) {
    taken = layout->take(sets * layout->inouts_ * DOJO_RESTORE_BYTES, DOJO_BUFFER_ALIGN,
                         layout->restore_);
  }
  if (!taken) return taken.error();
  // Set 0 last, so that what is timed lies together with its scratch.
  layout->plain_.resize(sets);
  for (std::uint64_t set = sets; set-- > 0;) {
    layout->timed_ = layout->base_ + layout->used_;
    const std::vector<ir::Tensor>& inputs = layout->inputs_[set];
    DOJO_CHECK(inputs.size() == layout->arguments_.size(), "an input set lacks arguments");
    for (std::size_t index = 0; index < inputs.size(); ++index) {
      Result<Place> place =
          layout->allocateArgument(layout->arguments_[index], index, inputs[index].bytes);
      if (!place) return place.error();
      layout->plain_[set].push_back(std::move(*place));
    }
  }
  layout->beforeRepacked_ = layout->beforeScratch_ = layout->used_;
  layout->sets_ = layout->plain_;
  taken = layout->upload();
  if (taken) taken = layout->place({}, {});
  if (!taken) return taken.error();
  return layout;
}

Result<Layout::Place> Layout::allocateArgument(const ir::Buffer& buffer, std::size_t index,
                                               std::span<const std::byte> input) {
  Place place{.name = buffer.name,
              .role = buffer.role,
              .isFloat = ir::isFloat(buffer.dtype),
              .bytes = static_cast<std::uint64_t>(buffer.storageBytes()),
              .input = input};
  DOJO_CHECK(place.input.size() == place.bytes, "a tensor differs from its buffer in size");
  Status taken;
  if (place.role == ir::Role::inout) {
    Place copy = place;
    taken = allocate(copy, index);
    place.pristine = copy.address;
  }
  if (taken) taken = allocate(place, index);
  if (!taken) return taken.error();
  return place;
}

Status Layout::writeGuards(const Place& place) {
  Status done = device_->write(place.address - kGuardBytes, guard_);
  // Up to the next buffer: an odd size leaves some bytes before the alignment.
  const std::uint64_t after = roundUp(place.bytes, DOJO_BUFFER_ALIGN) - place.bytes;
  if (done && after > 0) {
    done = device_->write(place.address + place.bytes, std::span(guard_).first(after));
  }
  if (done) done = device_->write(place.address + place.bytes + after, guard_);
  return done;
}

Status Layout::uploadOne(const Place& place) {
  Status done = writeGuards(place);
  if (done && place.role != ir::Role::out) done = device_->write(place.address, place.input);
  if (done && place.role == ir::Role::inout) done = device_->write(place.pristine, place.input);
  return done;
}

Status Layout::upload() {
  for (const std::vector<Place>& set : plain_) {
    for (const Place& place : set) {
      if (Status done = uploadOne(place); !done) return done;
    }
  }
  // What was packed for a kernel is written again for the next.
  sets_ = plain_;
  placed_.reset();
  inUse_.clear();
  beforeScratch_ = beforeRepacked_;
  return writeRestoreList();
}

Status Layout::writeRestoreList() {
  std::vector<std::byte> list;
  for (const std::vector<Place>& set : sets_) {
    for (const Place& place : set) {
      if (place.role != ir::Role::inout) continue;
      put(list, place.address, 8);
      put(list, place.pristine, 8);
      put(list, place.bytes, 8);
    }
  }
  return device_->write(restore_, list);
}

std::shared_ptr<const Layout::Repacked> Layout::repacked(std::size_t argument,
                                                         const ir::Buffer& as) {
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const auto& kept) {
    return kept->argument == argument && kept->as == as;
  });
  if (found != kept_.end()) return *found;
  auto made = std::make_shared<Repacked>();
  made->argument = argument;
  made->as = as;
  for (const std::vector<ir::Tensor>& set : inputs_) {
    made->inputs.push_back(ir::repack(set[argument], arguments_[argument], as));
  }
  kept_.push_front(made);
  if (kept_.size() > kKeptPackings) kept_.pop_back();
  return made;
}

Status Layout::placeRepacked(const std::vector<ir::Buffer>& arguments) {
  if (placed_ && arguments == *placed_) return {};
  placed_.reset();
  std::uint64_t needed = beforeRepacked_;
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    if (arguments[index] == arguments_[index]) continue;
    needed += roomFor(arguments[index]) * plain_.size();
  }
  if (needed > size_) return tooLarge(plain_.size(), needed, size_);
  std::vector<std::shared_ptr<const Repacked>> packed(arguments_.size());
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    if (!(arguments[index] == arguments_[index])) packed[index] = repacked(index, arguments[index]);
  }
  used_ = beforeRepacked_;
  std::vector<std::vector<Place>> sets = plain_;
  for (std::size_t set = sets.size(); set-- > 0;) {
    for (std::size_t index = 0; index < arguments.size(); ++index) {
      if (packed[index] == nullptr) continue;
      Result<Place> place =
          allocateArgument(arguments[index], index, packed[index]->inputs[set].bytes);
      if (!place) return place.error();
      if (Status done = uploadOne(*place); !done) return done;
      sets[set][index] = std::move(*place);
    }
  }
  beforeScratch_ = used_;
  sets_ = std::move(sets);
  inUse_ = std::move(packed);
  placed_ = arguments;
  return writeRestoreList();
}

Status Layout::place(const std::vector<ir::Buffer>& arguments,
                     const std::vector<std::int64_t>& scratchBytes) {
  DOJO_CHECK(arguments.empty() || arguments.size() == arguments_.size(), "one buffer an argument");
  if (Status placed = placeRepacked(arguments); !placed) return placed;
  used_ = beforeScratch_;
  scratch_.clear();
  for (std::size_t i = 0; i < scratchBytes.size(); ++i) {
    Place place{.name = fmt::format("scratch {}", i),
                .role = ir::Role::tmp,
                .bytes = static_cast<std::uint64_t>(scratchBytes[i]),
                .input = {}};
    if (Status taken = allocate(place, sets_.front().size() + i); !taken) return taken;
    if (Status written = writeGuards(place); !written) return written;
    scratch_.push_back(std::move(place));
  }
  return writeTables();
}

Status Layout::writeTables() {
  const int pointer = device_->hello().pointerBytes;
  const std::size_t entries = sets_.front().size() + scratch_.size();
  stride_ = static_cast<std::uint32_t>(
      roundUp(std::max<std::size_t>(entries, 1) * static_cast<std::size_t>(pointer), 8));
  if (Status table = fitsTable(entries, pointer); !table) return table;
  std::vector<std::byte> tables;
  for (std::size_t set = 0; set < sets_.size(); ++set) {
    for (const Place& place : sets_[set]) put(tables, place.address, pointer);
    for (const Place& place : scratch_) put(tables, place.address, pointer);
    tables.resize((set + 1) * stride_);
  }
  return device_->write(tables_, tables);
}

Status Layout::poison(int firstSet, int count) {
  // All ones are NaN in every float type; for the others a value that differs each time.
  const auto pattern = static_cast<std::byte>(0x81 + 2 * (poisons_++ % 64));
  Status done;
  for (int set = firstSet; set < firstSet + count; ++set) {
    for (const Place& place : sets_[static_cast<std::size_t>(set)]) {
      if (place.role != ir::Role::out || !done) continue;
      done = device_->fill(place.address, place.bytes, place.isFloat ? std::byte{0xff} : pattern);
    }
  }
  for (const Place& place : scratch_) {
    if (done) done = device_->fill(place.address, place.bytes, std::byte{0xff});
  }
  return done;
}

Result<bool> Layout::holds(std::uint64_t address, std::span<const std::byte> expected) {
  if (expected.empty()) return true;
  if (const std::span<std::byte> view = device_->view(address, expected.size()); !view.empty()) {
    return std::memcmp(view.data(), expected.data(), expected.size()) == 0;
  }
  auto crc = device_->crc(address, expected.size());
  if (!crc) return crc.error();
  return *crc == transport::crc32(0, expected);
}

Status Layout::checkGuards(const Place& place) {
  const std::uint64_t after = roundUp(place.bytes, DOJO_BUFFER_ALIGN) - place.bytes;
  const std::uint64_t end = place.address + place.bytes;
  const struct {
    std::uint64_t at;
    std::span<const std::byte> expected;
    const char* side;
  } bands[] = {{place.address - kGuardBytes, guard_, "before"},
               {end, std::span(guard_).first(after), "after"},
               {end + after, guard_, "after"}};
  for (const auto& band : bands) {
    auto whole = holds(band.at, band.expected);
    if (!whole) return whole.error();
    if (!*whole) {
      return Error{"verify.guard",
                   fmt::format("the kernel wrote {} buffer '{}'", band.side, place.name)};
    }
  }
  return {};
}

Status Layout::checkIntact(int firstSet, int count) {
  for (int set = firstSet; set < firstSet + count; ++set) {
    for (const Place& place : sets_[static_cast<std::size_t>(set)]) {
      if (Status whole = checkGuards(place); !whole) return whole;
      if (place.role == ir::Role::out) continue;
      const bool copied = place.role == ir::Role::inout;
      auto same = holds(copied ? place.pristine : place.address, place.input);
      if (!same) return same.error();
      if (!*same) {
        return Error{"verify.input-changed",
                     fmt::format("the kernel changed {}input '{}'",
                                 copied ? "the kept copy of " : "", place.name)};
      }
    }
  }
  for (const Place& place : scratch_) {
    if (Status whole = checkGuards(place); !whole) return whole;
  }
  return {};
}

Result<std::vector<std::span<const std::byte>>> Layout::outputs(int set) {
  std::vector<std::span<const std::byte>> out;
  fetched_.clear();
  fetched_.reserve(sets_.front().size());
  const std::vector<Place>& places = sets_[static_cast<std::size_t>(set)];
  for (std::size_t index = 0; index < places.size(); ++index) {
    const Place& place = places[index];
    if (place.role == ir::Role::in) {
      out.emplace_back();
      continue;
    }
    const bool moved = index < inUse_.size() && inUse_[index] != nullptr;
    const std::span<std::byte> view = device_->view(place.address, place.bytes);
    if (!view.empty() && !moved) {
      out.emplace_back(view);
      continue;
    }
    std::vector<std::byte>& bytes = fetched_.emplace_back(view.begin(), view.end());
    if (view.empty()) {
      bytes.resize(place.bytes);
      if (Status read = device_->read(place.address, bytes); !read) return read.error();
    }
    if (moved) {
      const ir::Buffer& as = inUse_[index]->as;
      bytes = ir::repack({as.dtype, std::move(bytes)}, as, arguments_[index]).bytes;
    }
    out.emplace_back(bytes);
  }
  return out;
}

void Layout::aim(transport::Call& call, int firstSet, int count, bool evict) const {
  const auto first = static_cast<std::uint64_t>(firstSet);
  call.tables = tables_ + first * stride_;
  call.stride = stride_;
  call.sets = static_cast<std::uint32_t>(count);
  call.restores = static_cast<std::uint16_t>(inouts_);
  call.restore = restore_ + first * inouts_ * DOJO_RESTORE_BYTES;
  call.evict = timed_;
  call.evictBytes = evict ? base_ + used_ - timed_ : 0;
}

}  // namespace dojo::measure
