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
/// Room for one argument table.
constexpr std::uint32_t kTableBytes = 1024;

std::uint64_t roundUp(std::uint64_t value, std::uint64_t align) {
  return (value + align - 1) / align * align;
}

}  // namespace

Status Layout::take(std::uint64_t bytes, std::uint64_t align, std::uint64_t& address) {
  const std::uint64_t start = roundUp(base_ + used_, align) - base_;
  if (bytes > size_ || start > size_ - bytes) {
    return Error{"load.size",
                 fmt::format("the kernel's buffers for {} input sets need at least {} bytes of "
                             "device memory and there are {}",
                             inputs_.size(), start + bytes, size_)};
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
    layout->inouts_ += buffer.role == ir::Role::inout ? 1 : 0;
  }
  Status taken = layout->take(sets * kTableBytes, DOJO_BUFFER_ALIGN, layout->tables_);
  if (taken) {
    taken = layout->take(sets * layout->inouts_ * DOJO_RESTORE_BYTES, DOJO_BUFFER_ALIGN,
                         layout->restore_);
  }
  // Set 0 last, so that what is timed lies together with its scratch.
  layout->sets_.resize(sets);
  for (std::uint64_t set = sets; taken && set-- > 0;) {
    layout->timed_ = layout->base_ + layout->used_;
    for (const ir::Buffer& buffer : program.buffers) {
      if (!buffer.isArgument()) continue;
      std::vector<Place>& places = layout->sets_[set];
      const std::size_t index = places.size();
      DOJO_CHECK(index < layout->inputs_[set].size(), "an input set lacks arguments");
      Place place{.name = buffer.name,
                  .role = buffer.role,
                  .isFloat = ir::isFloat(buffer.dtype),
                  .bytes = static_cast<std::uint64_t>(buffer.storageBytes()),
                  .input = layout->inputs_[set][index].bytes};
      DOJO_CHECK(place.input.size() == place.bytes, "a tensor differs from its buffer in size");
      if (place.role == ir::Role::inout && taken) {
        Place copy = place;
        taken = layout->allocate(copy, index);
        place.pristine = copy.address;
      }
      if (taken) taken = layout->allocate(place, index);
      places.push_back(std::move(place));
    }
  }
  layout->beforeScratch_ = layout->used_;
  if (taken) taken = layout->upload();
  if (taken) taken = layout->placeScratch({});
  if (!taken) return taken.error();
  return layout;
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

Status Layout::upload() {
  Status done;
  std::vector<std::byte> list;
  for (const std::vector<Place>& set : sets_) {
    for (const Place& place : set) {
      if (done) done = writeGuards(place);
      if (done && place.role != ir::Role::out) done = device_->write(place.address, place.input);
      if (place.role != ir::Role::inout) continue;
      if (done) done = device_->write(place.pristine, place.input);
      put(list, place.address, 8);
      put(list, place.pristine, 8);
      put(list, place.bytes, 8);
    }
  }
  if (done) done = device_->write(restore_, list);
  return done;
}

Status Layout::placeScratch(const std::vector<std::int64_t>& bytes) {
  used_ = beforeScratch_;
  scratch_.clear();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    Place place{.name = fmt::format("scratch {}", i),
                .role = ir::Role::tmp,
                .bytes = static_cast<std::uint64_t>(bytes[i]),
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
  if (stride_ > kTableBytes) {
    return Error{"load.size", fmt::format("the kernel has {} buffers, more than {}", entries,
                                          kTableBytes / static_cast<std::uint32_t>(pointer))};
  }
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
  for (const Place& place : sets_[static_cast<std::size_t>(set)]) {
    if (place.role == ir::Role::in) {
      out.emplace_back();
      continue;
    }
    if (const std::span<std::byte> view = device_->view(place.address, place.bytes);
        !view.empty()) {
      out.emplace_back(view);
      continue;
    }
    fetched_.emplace_back(place.bytes);
    if (Status read = device_->read(place.address, fetched_.back()); !read) return read.error();
    out.emplace_back(fetched_.back());
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
