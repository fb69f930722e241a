// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "board.h"

#include <chrono>
#include <utility>

#include "core/core.h"

namespace dojo {

Board& Board::get() {
  static Board board;
  return board;
}

std::uint64_t Board::base() const { return reinterpret_cast<std::uintptr_t>(memory.data()); }

void Board::start() {
  stop();
  in_.clear();
  out_.clear();
  stopping_ = false;
  thread_ = std::thread([this] {
    if (setjmp(exit_) == 0) dojo_run();
  });
}

void Board::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Board::toBoard(std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  for (const std::byte byte : bytes) in_.push_back(std::to_integer<std::uint8_t>(byte));
  changed_.notify_all();
}

std::vector<std::byte> Board::fromBoard(double seconds) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return !out_.empty(); });
  std::vector<std::byte> bytes;
  for (; !out_.empty(); out_.pop_front()) bytes.push_back(static_cast<std::byte>(out_.front()));
  return bytes;
}

std::size_t Board::receive(std::uint8_t* into, std::size_t most, bool wait) {
  bool leave = false;
  std::size_t count = 0;
  {
    std::unique_lock lock(mutex_);
    if (wait) changed_.wait(lock, [&] { return stopping_ || !in_.empty(); });
    leave = stopping_;
    for (; !leave && count < most && !in_.empty(); in_.pop_front()) into[count++] = in_.front();
  }
  // Only frames of the core, which is C, lie between here and start().
  if (leave) std::longjmp(exit_, 1);
  return count;
}

void Board::send(const std::uint8_t* bytes, std::size_t count) {
  const std::lock_guard lock(mutex_);
  out_.insert(out_.end(), bytes, bytes + count);
  changed_.notify_all();
}

}  // namespace dojo

using dojo::Board;

size_t dojo_port_receive(uint8_t* into, size_t most, int wait) {
  return Board::get().receive(into, most, wait != 0);
}
void dojo_port_send(const uint8_t* bytes, size_t count) { Board::get().send(bytes, count); }
void dojo_port_flush(int) {}

void dojo_port_facts(dojo_info* info) {
  info->timer_hz = 1000000;
  info->boot = 1;
}

void dojo_port_items() {
  uint8_t region[28];
  dojo_put(region, Board::get().base(), 8);
  dojo_put(region + 8, Board::kMemory, 8);
  dojo_put(region + 16, 0, 8);
  dojo_put(region + 24, DOJO_REGION_READ | DOJO_REGION_WRITE, 4);
  dojo_item(DOJO_ITEM_PORT, "board", 5, nullptr, 0);
  dojo_item(DOJO_ITEM_REGION, region, sizeof region, "data", 4);
  dojo_item(200, "of a later version", 18, nullptr, 0);
}

int dojo_port_allows(uintptr_t address, uintptr_t size, uint32_t flags) {
  const uint64_t base = Board::get().base();
  return address >= base && address - base <= Board::kMemory &&
         size <= Board::kMemory - (address - base) && (flags & DOJO_REGION_EXECUTE) == 0;
}
uint8_t dojo_port_counters() { return 3; }
uint32_t dojo_port_harts() { return 2; }
uint32_t dojo_port_micros() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint32_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}
void dojo_port_limit(uint32_t) {}

int dojo_port_batch(const dojo_batch* batch, dojo_counts* counts, dojo_fault* fault) {
  Board& board = Board::get();
  ++board.batches;
  const int cause = board.kernels.at(batch->entry)(*batch, *counts);
  if (cause == 0) return 0;
  *fault = {};
  fault->cause = static_cast<uint8_t>(cause);
  fault->pc = 0x77;
  fault->repeat = 1;
  return -1;
}
void dojo_port_evict(uintptr_t, uintptr_t) { ++Board::get().evictions; }
void dojo_port_sync() {}
uint32_t dojo_port_image_crc() { return 0x1234; }
uint8_t dojo_port_canary() { return std::exchange(Board::get().canaryBroken, false) ? 1 : 0; }
void dojo_port_reset() { ++Board::get().resets; }
