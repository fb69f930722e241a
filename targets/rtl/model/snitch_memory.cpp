// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "snitch_memory.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <svdpi.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dojo::rtl {

SnitchMemory& SnitchMemory::instance() {
  static SnitchMemory memory;
  return memory;
}

void SnitchMemory::lay(std::uint32_t ramOrigin, std::uint32_t ramBytes,
                       std::uint32_t scratchpadOrigin, std::uint32_t scratchpadBytes) {
  ramOrigin_ = ramOrigin;
  ramBytes_ = ramBytes;
  scratchpadOrigin_ = scratchpadOrigin;
  scratchpadBytes_ = scratchpadBytes;
  void* mapped = mmap(nullptr, ramBytes_ + scratchpadBytes_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) std::abort();
  base_ = static_cast<std::byte*>(mapped);
}

std::string SnitchMemory::share(const std::string& path) {
  const off_t size = static_cast<off_t>(ramBytes_) + scratchpadBytes_;
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  void* mapped = MAP_FAILED;
  if (file >= 0) {
    struct stat about {};
    if (fstat(file, &about) == 0 && (about.st_size >= size || ftruncate(file, size) == 0)) {
      mapped = mmap(base_, static_cast<std::size_t>(size), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_FIXED, file, 0);
    }
  }
  const std::string error =
      mapped == MAP_FAILED ? path + ": can't be memory: " + std::strerror(errno) : "";
  if (file >= 0) close(file);
  return error;
}

bool SnitchMemory::poke(std::uint64_t address, std::span<const std::byte> bytes) {
  if (address >> 32 != 0) return false;
  std::byte* const to = at(static_cast<std::uint32_t>(address), bytes.size());
  if (to != nullptr) std::memcpy(to, bytes.data(), bytes.size());
  return to != nullptr;
}

bool SnitchMemory::peek(std::uint64_t address, std::span<std::byte> into) const {
  if (address >> 32 != 0) return false;
  const std::byte* const from = at(static_cast<std::uint32_t>(address), into.size());
  if (from != nullptr) std::memcpy(into.data(), from, into.size());
  return from != nullptr;
}

}  // namespace dojo::rtl

namespace {

std::byte* place(unsigned int address, std::size_t size) {
  return dojo::rtl::SnitchMemory::instance().at(address, size);
}

/// Writes the bytes of `data` whose bit in `strobe` is set.
void store(std::byte* to, const std::byte* data, std::uint64_t strobe, unsigned count) {
  if (strobe == (count == 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << count) - 1)) {
    std::memcpy(to, data, count);
    return;
  }
  for (unsigned i = 0; i < count; ++i) {
    if ((strobe >> i & 1) != 0) to[i] = data[i];
  }
}

constexpr std::size_t kLine = 64;

}  // namespace

// The addresses are aligned, and in memory: the machine has looked.
extern "C" unsigned long long snitch_memory_read(unsigned int address) {
  std::uint64_t out = 0;
  if (const std::byte* const from = place(address, sizeof out)) {
    std::memcpy(&out, from, sizeof out);
  }
  return out;
}

extern "C" void snitch_memory_write(unsigned int address, unsigned long long data,
                                    unsigned char strobe) {
  std::byte* const to = place(address, sizeof data);
  if (to != nullptr) store(to, reinterpret_cast<const std::byte*>(&data), strobe, sizeof data);
}

extern "C" void snitch_memory_read_line(unsigned int address, svBitVecVal* data) {
  if (const std::byte* const from = place(address, kLine)) std::memcpy(data, from, kLine);
}

extern "C" void snitch_memory_write_line(unsigned int address, const svBitVecVal* data,
                                         unsigned long long strobe) {
  std::byte* const to = place(address, kLine);
  if (to != nullptr) store(to, reinterpret_cast<const std::byte*>(data), strobe, kLine);
}
