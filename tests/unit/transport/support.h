// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The real runner as a device, and kernels given as machine code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "transport/command.h"
#include "transport/device.h"

namespace dojo::transport {

inline const std::string kShared = "{runner} {memory}";
inline const std::string kPrivate = "{runner} --code-bytes 1048576 --data-bytes 16777216";

inline std::unique_ptr<Transport> nativeTransport(const std::string& command = kShared) {
  return makeCommand({.command = command,
                      .runnerPath = DOJO_BINARY_DIR "/bin/dojo-runner-linux",
                      .codeBytes = 1 << 20,
                      .dataBytes = 16 << 20});
}

inline std::unique_ptr<Device> openDevice(std::unique_ptr<Transport> transport,
                                          const LinkOptions& options = {}) {
  auto device = Device::open(std::move(transport), options);
  INFO((device ? "" : device.error().text()));
  REQUIRE(device);
  return std::move(*device);
}

using Code = std::vector<std::byte>;
inline Code code(std::initializer_list<int> bytes) {
  Code out;
  for (const int byte : bytes) out.push_back(static_cast<std::byte>(byte));
  return out;
}

/// A runner, one buffer of 64 bytes, and kernels that get its address.
class Bench {
 public:
  explicit Bench(std::unique_ptr<Transport> transport, const LinkOptions& options = {})
      : device(openDevice(std::move(transport), options)) {
    codeBase = device->hello().region("code")->base;
    table = device->hello().region("data")->base;
    buffer = table + 64;
  }

  Result<CallDone> run(const Code& kernel, Call call = {}, const Device::OnSample& sink = {}) {
    std::vector<std::byte> pointer(8);
    for (int i = 0; i < 8; ++i) pointer[i] = static_cast<std::byte>(buffer >> (8 * i));
    if (Status written = device->write(table, pointer); !written) return written.error();
    if (Status written = device->write(codeBase, kernel); !written) return written.error();
    call.entry = codeBase;
    call.tables = table;
    call.stride = 64;
    call.nonce = ++nonce;
    return device->call(call, sink);
  }
  /// The code of the error, or "ok".
  std::string verdict(const Code& kernel, const Call& call = {}) {
    auto done = run(kernel, call);
    message = done ? "" : done.error().text();
    return done ? "ok" : done.error().code;
  }

  std::unique_ptr<Device> device;
  std::uint64_t codeBase = 0, table = 0, buffer = 0, nonce = 0;
  std::string message;
};

/// ++*(int64*)buffers[0]: mov rax, [rdi]; inc qword [rax]; ret
inline const Code kIncrement = code({0x48, 0x8b, 0x07, 0x48, 0xff, 0x00, 0xc3});
inline const Code kForever = code({0xeb, 0xfe});

inline std::int64_t counterOf(Bench& bench) {
  std::vector<std::byte> bytes(8);
  REQUIRE(bench.device->read(bench.buffer, bytes));
  std::int64_t value = 0;
  for (int i = 8; i-- > 0;) value = value << 8 | std::to_integer<std::int64_t>(bytes[i]);
  return value;
}

}  // namespace dojo::transport
