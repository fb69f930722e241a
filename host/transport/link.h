// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Commands and answers over an unreliable stream of bytes: sequence numbers, retries, time limits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transport/device.h"
#include "transport/frame.h"

namespace dojo::transport {

struct Device::Link {
  std::unique_ptr<Transport> transport;
  LinkOptions options;
  Clock* clock = nullptr;
  Decoder decoder;
  std::uint8_t sequence = 0;
  int window = 2;  ///< Samples that the device keeps.
  LinkStatistics statistics;
  std::uint64_t bytes = 0;         ///< That came since the present command began.
  std::int64_t answers = 0;        ///< To it, among them.
  std::int64_t damagedBefore = 0;  ///< Decoder::damaged() when it began.
  /// The device is down and couldn't be brought back; what went wrong.
  Status down;

  /// One command, one answer. `what` completes "waited 5.0 s for the answer to ...".
  Result<Frame> command(std::uint8_t kind, const std::vector<std::byte>& body, double seconds,
                        const std::string& what);
  /// One HELLO over a transport that was just opened.
  Result<Hello> hello();
  /// Streams a CALL; the last frame (DONE, FAULT or REFUSED) is returned. Errors: "link.*", and
  /// "run.timeout" when the device was silent beyond the limit.
  Result<Frame> call(const std::vector<std::byte>& body, const Call& call,
                     const Device::OnSample& onSample);

 private:
  /// A new command.
  Frame begin(std::uint8_t kind, const std::vector<std::byte>& body);
  /// What came since begin(), for messages.
  std::string heard() const;
  Status transmit(const Frame& frame, double seconds);
  /// Receives what comes within `seconds`, then the next frame of the present command, if any.
  Result<std::optional<Frame>> await(double seconds);
  std::optional<Frame> take();
  /// The wait after one that brought nothing: twice as long, up to 16 times the first.
  double longer(double wait) const { return std::min(2 * wait, 16 * options.retrySeconds); }
  Status acknowledge(std::uint32_t next, bool resend);
};

}  // namespace dojo::transport
