// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Curves as TensorBoard reads them: records of Event messages (protocol buffers), each with
/// checksums.
///   a record: u64 length, u32 masked CRC-32C of those 8 bytes, the message, u32 masked CRC-32C of
///             it; little-endian
///   Event: 1 wall_time (double), 2 step (varint), 3 file_version (string), 5 summary
///   Summary: 1 value, repeated; a value: 1 tag (string), 2 simple_value (float)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dojo::agent {

/// Castagnoli's CRC-32, and as records have it.
[[nodiscard]] std::uint32_t crc32c(std::string_view bytes);
[[nodiscard]] std::uint32_t maskedCrc32c(std::string_view bytes);

/// What a file of events begins with.
[[nodiscard]] std::string eventsHeader(double wallTime);
/// The record of some scalars at a step.
[[nodiscard]] std::string scalarsEvent(double wallTime, std::int64_t step,
                                       const std::vector<std::pair<std::string, double>>& scalars);

}  // namespace dojo::agent
