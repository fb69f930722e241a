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
/// Memories below this are scratchpads, of cores that compare whole addresses: there buffers lie
/// one after another, since up to a page between them is much.
constexpr std::uint64_t kScratchpad = 64 * kPage;
/// Inputs in other layouts that are kept for the next kernel that wants them.
constexpr std::size_t kKeptPackings = 6;
const std::string kGuard = "verify.guard";
const std::string kInput = "verify.input-changed";
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

/// The memory that a buffer's location names; nullptr: it lies with the others.
const transport::Region* regionOf(const transport::Hello& hello, const ir::Buffer& buffer) {
  return buffer.location == "heap" ? nullptr : hello.region(buffer.location);
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
  std::map<std::string, std::uint64_t> away;
  std::size_t entries = scratchBytes.size();
  for (const ir::Buffer& buffer : program.buffers) {
    if (!buffer.isArgument()) continue;
    ++entries;
    const std::uint64_t all = roomFor(buffer) * static_cast<std::uint64_t>(sets);
    if (const transport::Region* far = regionOf(hello, buffer)) {
      std::uint64_t& there = away[far->name];
      there += all;
      if (there > far->size) return tooLarge(static_cast<std::size_t>(sets), there, far->size);
      continue;
    }
    needed += all;
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
  if (size_ >= kScratchpad) {
    const std::uint64_t offset = (kPage - index * kStagger % kPage) % kPage;
    const std::uint64_t from = base_ + used_ + kGuardBytes;
    used_ += (offset + kPage - from % kPage) % kPage;
  }
  const std::uint64_t body = roundUp(place.bytes, DOJO_BUFFER_ALIGN);
  Status taken = take(body + 2 * kGuardBytes, DOJO_BUFFER_ALIGN, start);
  place.address = start + kGuardBytes;
  return taken;
}

Status Layout::allocate(Place& place, Far& far) const {
  const std::uint64_t start = roundUp(far.base + far.used, DOJO_BUFFER_ALIGN) - far.base;
  const std::uint64_t bytes = roundUp(place.bytes, DOJO_BUFFER_ALIGN) + 2 * kGuardBytes;
  if (bytes > far.size || start > far.size - bytes) {
    return tooLarge(inputs_.size(), start + bytes, far.size);
  }
  place.address = far.base + start + kGuardBytes;
  far.used = start + bytes;
  return {};
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
    if (const transport::Region* far = regionOf(device.hello(), buffer)) {
      layout->far_.try_emplace(buffer.location, Far{far->base, far->size});
    }
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
  for (auto& [location, far] : layout->far_) far.beforeRepacked = far.used;
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
  const auto far = far_.find(buffer.location);
  const auto here = [&](Place& what) {
    return far == far_.end() ? allocate(what, index) : allocate(what, far->second);
  };
  Status taken;
  if (place.role == ir::Role::inout) {
    Place copy = place;
    taken = here(copy);
    place.pristine = copy.address;
  }
  if (taken) taken = here(place);
  if (!taken) return taken.error();
  return place;
}

void Layout::guards(const Place& place, std::vector<transport::Piece>& into) const {
  into.push_back({place.address - kGuardBytes, guard_});
  // Up to the next buffer: an odd size leaves some bytes before the alignment.
  const std::uint64_t after = roundUp(place.bytes, DOJO_BUFFER_ALIGN) - place.bytes;
  if (after > 0) into.push_back({place.address + place.bytes, std::span(guard_).first(after)});
  into.push_back({place.address + place.bytes + after, guard_});
}

void Layout::contents(const Place& place, std::vector<transport::Piece>& into) const {
  guards(place, into);
  if (place.role != ir::Role::out) into.push_back({place.address, place.input});
  if (place.role == ir::Role::inout) into.push_back({place.pristine, place.input});
}

Status Layout::upload() {
  std::vector<transport::Piece> pieces;
  for (const std::vector<Place>& set : plain_) {
    for (const Place& place : set) contents(place, pieces);
  }
  if (Status done = device_->update(pieces); !done) return done;
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
    if (far_.contains(arguments[index].location)) continue;
    needed += roomFor(arguments[index]) * plain_.size();
  }
  if (needed > size_) return tooLarge(plain_.size(), needed, size_);
  std::vector<std::shared_ptr<const Repacked>> packed(arguments_.size());
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    if (!(arguments[index] == arguments_[index])) packed[index] = repacked(index, arguments[index]);
  }
  used_ = beforeRepacked_;
  for (auto& [location, far] : far_) far.used = far.beforeRepacked;
  std::vector<std::vector<Place>> sets = plain_;
  std::vector<transport::Piece> pieces;
  for (std::size_t set = sets.size(); set-- > 0;) {
    for (std::size_t index = 0; index < arguments.size(); ++index) {
      if (packed[index] == nullptr) continue;
      Result<Place> place =
          allocateArgument(arguments[index], index, packed[index]->inputs[set].bytes);
      if (!place) return place.error();
      contents(*place, pieces);
      sets[set][index] = std::move(*place);
    }
  }
  if (Status done = device_->update(pieces); !done) return done;
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
  std::vector<transport::Piece> pieces;
  for (std::size_t i = 0; i < scratchBytes.size(); ++i) {
    Place place{.name = fmt::format("scratch {}", i),
                .role = ir::Role::tmp,
                .bytes = static_cast<std::uint64_t>(scratchBytes[i]),
                .input = {}};
    if (Status taken = allocate(place, sets_.front().size() + i); !taken) return taken;
    guards(place, pieces);
    scratch_.push_back(std::move(place));
  }
  return writeTables(std::move(pieces));
}

Status Layout::writeTables(std::vector<transport::Piece> scratch) {
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
  scratch.push_back({tables_, tables});
  return device_->update(scratch);
}

Status Layout::poison(int firstSet, int count) {
  // All ones are NaN in every float type; for the others a value that differs each time.
  const auto pattern = static_cast<std::byte>(0x81 + 2 * (poisons_++ % 64));
  std::vector<transport::Filling> fillings;
  for (int set = firstSet; set < firstSet + count; ++set) {
    for (const Place& place : sets_[static_cast<std::size_t>(set)]) {
      if (place.role != ir::Role::out) continue;
      fillings.push_back({place.address, place.bytes, place.isFloat ? std::byte{0xff} : pattern});
    }
  }
  for (const Place& place : scratch_) {
    fillings.push_back({place.address, place.bytes, std::byte{0xff}});
  }
  return device_->fill(fillings);
}

bool Layout::restore(int firstSet, int count) {
  for (int set = firstSet; set < firstSet + count; ++set) {
    for (const Place& place : sets_[static_cast<std::size_t>(set)]) {
      if (place.role != ir::Role::inout) continue;
      const std::span<std::byte> there = device_->view(place.address, place.bytes);
      if (there.empty()) return false;
      std::copy(place.input.begin(), place.input.end(), there.begin());
    }
  }
  return true;
}

Status Layout::checkIntact(int firstSet, int count) {
  struct Check {
    const Place* place;
    const char* what;  // the kernel did, before the buffer's name
    std::string code;
  };
  std::vector<Check> checks;
  std::vector<transport::Piece> expected;
  const auto expect = [&](const transport::Piece& piece, const Check& check) {
    expected.push_back(piece);
    checks.push_back(check);
  };
  // In the order of addresses: neighbours are checked at once.
  const auto add = [&](const Place& place, bool input) {
    std::vector<transport::Piece> around;
    guards(place, around);
    expect(around.front(), {&place, "wrote before", kGuard});
    if (input) expect({place.address, place.input}, {&place, "changed input", kInput});
    for (std::size_t i = 1; i < around.size(); ++i) {
      expect(around[i], {&place, "wrote after", kGuard});
    }
  };
  for (int set = firstSet; set < firstSet + count; ++set) {
    for (const Place& place : sets_[static_cast<std::size_t>(set)]) {
      add(place, place.role == ir::Role::in);
      if (place.role != ir::Role::inout) continue;
      expect({place.pristine, place.input}, {&place, "changed the kept copy of input", kInput});
    }
  }
  for (const Place& place : scratch_) add(place, false);
  auto whole = device_->holds(expected);
  if (!whole) return whole.error();
  for (std::size_t i = 0; i < checks.size(); ++i) {
    if ((*whole)[i]) continue;
    return Error{checks[i].code,
                 fmt::format("the kernel {}{} '{}'", checks[i].what,
                             checks[i].code == kGuard ? " buffer" : "", checks[i].place->name)};
  }
  return {};
}

Result<std::span<const std::byte>> Layout::left(std::size_t set, std::size_t index) {
  const Place& place = sets_[set][index];
  if (const std::span<std::byte> view = device_->view(place.address, place.bytes); !view.empty()) {
    return std::span<const std::byte>(view);
  }
  std::vector<std::byte>& last = read_[place.address];
  if (last.size() == place.bytes) {
    const transport::Piece piece{place.address, last};
    auto same = device_->holds(std::span(&piece, 1));
    if (!same) return same.error();
    if (same->front()) return std::span<const std::byte>(last);
  }
  last.resize(place.bytes);
  if (Status read = device_->read(place.address, last); !read) {
    last.clear();
    return read.error();
  }
  return std::span<const std::byte>(last);
}

Result<std::vector<std::span<const std::byte>>> Layout::outputs(int set) {
  std::vector<std::span<const std::byte>> out;
  fetched_.clear();
  fetched_.reserve(sets_.front().size());
  const auto at = static_cast<std::size_t>(set);
  for (std::size_t index = 0; index < sets_[at].size(); ++index) {
    if (sets_[at][index].role == ir::Role::in) {
      out.emplace_back();
      continue;
    }
    auto bytes = left(at, index);
    if (!bytes) return bytes.error();
    if (index < inUse_.size() && inUse_[index] != nullptr) {
      const ir::Buffer& as = inUse_[index]->as;
      fetched_.push_back(
          ir::repack({as.dtype, {bytes->begin(), bytes->end()}}, as, arguments_[index]).bytes);
      bytes = std::span<const std::byte>(fetched_.back());
    }
    out.push_back(*bytes);
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
