// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Reading the answer to HELLO.
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"
#include "transport/device.h"

namespace dojo::transport {

/// Errors: "link.version" (both versions), "link.hello" (what is wrong with it).
[[nodiscard]] Result<Hello> parseHello(std::span<const std::byte> body);

}  // namespace dojo::transport
