// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "host_interface.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "console.h"

namespace dojo::rtl {

namespace {

constexpr std::uint64_t kWrite = 64;
constexpr std::uint64_t kExit = 93;

std::optional<std::uint32_t> symbol(const LoadedElf& program, const char* name) {
  const auto found = program.symbols.find(name);
  if (found == program.symbols.end()) return std::nullopt;
  return found->second;
}

std::span<std::byte> bytesOf(std::uint64_t& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

}  // namespace

HostInterface::HostInterface(Model& model, const LoadedElf& program)
    : model_(model), toHost_(symbol(program, "tohost")), fromHost_(symbol(program, "fromhost")) {}

std::optional<int> HostInterface::serve() {
  std::uint64_t value = 0;
  if (!toHost_ || !model_.peek(*toHost_, bytesOf(value)) || value == 0) return std::nullopt;
  if ((value & 1) != 0) return static_cast<int>(value >> 1 & 0xff);
  std::uint64_t none = 0;
  std::uint64_t done = 1;
  const auto status = call(static_cast<std::uint32_t>(value));
  (void)model_.poke(*toHost_, bytesOf(none));
  if (fromHost_) (void)model_.poke(*fromHost_, bytesOf(done));
  return status;
}

std::optional<int> HostInterface::call(std::uint32_t block) {
  std::array<std::uint64_t, 8> words{};
  if (!model_.peek(block, std::as_writable_bytes(std::span(words)))) return std::nullopt;
  if (words[0] == kExit) return static_cast<int>(words[1] & 0xff);
  const std::int64_t result = words[0] == kWrite ? write(words[2], words[3]) : -ENOSYS;
  std::uint64_t stored = static_cast<std::uint64_t>(result);
  (void)model_.poke(block, bytesOf(stored));
  return std::nullopt;
}

std::int64_t HostInterface::write(std::uint64_t address, std::uint64_t size) {
  std::array<char, 256> chunk;
  for (std::uint64_t done = 0; done < size;) {
    const std::size_t now = std::min<std::uint64_t>(chunk.size(), size - done);
    const std::span<char> piece(chunk.data(), now);
    if (!model_.peek(address + done, std::as_writable_bytes(piece))) return -EFAULT;
    for (const char character : piece) Console::instance().put(character);
    done += now;
  }
  return static_cast<std::int64_t>(size);
}

}  // namespace dojo::rtl
