// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Commands and answers over an unreliable stream of bytes: sequence numbers, retries, time limits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "transport/device.h"
#include "transport/frame.h"

namespace dojo::transport {

/// The step that is no step: the device answered again by itself, its CALL given up.
inline constexpr const char* kItself = "itself, when the call was given up";

/// A command on its way.
struct Request {
  std::uint8_t kind = 0;
  std::vector<std::byte> body = {};
  std::string what = {};        ///< Completes "waited 5.0 s for the answer to ...".
  std::size_t answerBytes = 0;  ///< About as many come back.
};

struct Device::Link {
  std::unique_ptr<Transport> transport;
  LinkOptions options;
  Clock* clock = nullptr;
  Decoder decoder;
  std::uint8_t sequence = 0;  ///< Of the last command.
  int under = 1;              ///< Commands under way, ending in that one.
  std::uint64_t nonce = 0;    ///< Of the last CALL.
  int window = 2;             ///< Samples that the device keeps.
  LinkStatistics statistics;
  double pace = 0;                 ///< Seconds a byte, as seen; an emulated UART may be slow too.
  std::uint64_t bytes = 0;         ///< That came since the present command began.
  std::int64_t answers = 0;        ///< To it, among them.
  std::int64_t damagedBefore = 0;  ///< Decoder::damaged() when it began.
  /// The device is down and couldn't be brought back; what went wrong.
  Status down;
  int failures = 0;  ///< To bring it back, one after another.

  /// One command, one answer, within `seconds` and what the line needs.
  Result<Frame> command(const Request& request, double seconds);
  /// Commands that may be executed twice, as many under way at once as the transport bears; their
  /// answers in order. `seconds` for each.
  Result<std::vector<Frame>> commands(std::span<const Request> requests, double seconds);
  /// A greeting. What was under way is forgotten.
  Result<Hello> hello(double seconds);
  /// Ends the CALL that may still run.
  Status abort();
  /// Streams a CALL; the last frame (DONE, FAULT or REFUSED) is returned. Errors: "link.*", and
  /// "run.timeout" when the device was silent beyond the limit.
  Result<Frame> call(const std::vector<std::byte>& body, const Call& call,
                     const Device::OnSample& onSample);

 private:
  /// A new command.
  Frame begin(const Request& request);
  /// What came since begin(), for messages.
  std::string heard() const;
  Status transmit(const Frame& frame);
  /// The time limit of an answer, and that it has passed.
  double onLine(const Request& request) const;
  static std::size_t weight(const Request& request);
  /// So many bytes were answered for after `seconds`.
  void learn(std::size_t bytesGone, double seconds);
  Error late(double seconds, const std::string& what) const;
  /// Receives what comes within `seconds`, then the next frame of the present command, if any.
  Result<std::optional<Frame>> await(double seconds);
  std::optional<Frame> take();
  /// The wait after one that brought nothing: twice as long, up to 16 times the first.
  double longer(double wait) const { return std::min(2 * wait, 16 * options.retrySeconds); }
  Status acknowledge(std::uint32_t next, bool resend);
};

}  // namespace dojo::transport
