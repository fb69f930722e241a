// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The `batch` transport: for a device whose only way in is "load this image and read what it
/// prints". Each CALL is a run of the device on an image that holds the runner, the data and the
/// CALL as a list of commands (runner/protocol/PROTOCOL.md); memory commands between are answered
/// from what is known of memory by then. A run that hangs or dies costs its own CALL alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "transport/frame.h"
#include "transport/server.h"
#include "transport/transport.h"

namespace dojo::transport {

struct BatchOptions {
  Setup setup;                  ///< Its command runs one image, {image}, and ends.
  std::uint64_t list = 0;       ///< Device address of the list.
  std::uint64_t listBytes = 0;  ///< Room for it.
  double seconds = 10;          ///< Time limit of one run.
};
[[nodiscard]] std::unique_ptr<Transport> makeBatch(BatchOptions options);

/// A list of commands as it lies in the image.
[[nodiscard]] std::vector<std::byte> encodeList(std::span<const Frame> commands, int copies);

/// Takes console text as it comes; whole, undamaged records come out, each once.
class RecordReader {
 public:
  void feed(std::span<const std::byte> text);
  [[nodiscard]] std::optional<Frame> next();
  [[nodiscard]] std::int64_t damaged() const { return damaged_; }

 private:
  void finish();

  std::string open_;  ///< What was seen of DOJO_RECORD_OPEN, or the record after it.
  bool inside_ = false;
  std::vector<std::byte> last_;  ///< Of the record before: a copy of it is dropped.
  std::deque<Frame> frames_;
  std::int64_t damaged_ = 0;
};

}  // namespace dojo::transport
