// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A device with a runner on it: the link layer over a transport. Sequence numbers, retransmission
/// and recovery live here; what is above sees memory, calls and faults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "transport/transport.h"

namespace dojo::transport {

struct Region {
  std::string name;  ///< "code", "data", "stack"
  std::uint64_t base = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;  ///< In the shared file.
  unsigned flags = 0;        ///< DOJO_REGION_*
};

struct CounterInfo {
  int id = 0;
  int width = 0;  ///< Bits; 0: not there, and `remark` says why.
  std::string name;
  std::string remark;
};

/// What the runner said of itself.
struct Hello {
  int version = 0;
  std::string port;
  std::string isa;  ///< As probed.
  int harts = 1;
  int pointerBytes = 8;
  int window = 1;
  std::uint64_t largestFrame = 0;
  double timerHz = 0;  ///< Of `ticks`; 0: not known.
  std::uint32_t imageCrc = 0;
  std::uint32_t boot = 0;
  double chainCycles = 0;  ///< Core cycles of the dependent-multiply chain; 0: none.
  std::vector<int> cores;  ///< On which each hart is pinned.
  std::vector<Region> regions;
  std::vector<CounterInfo> counters;
  std::map<std::string, std::uint64_t> services;  ///< Addresses for link::place.

  [[nodiscard]] const Region* region(const std::string& name) const;
  [[nodiscard]] const CounterInfo* counter(int id) const;
};

/// One CALL; see DOJO_CALL_* in runner/protocol/protocol.h.
struct Call {
  std::uint64_t nonce = 0;
  std::uint64_t entry = 0;
  std::uint64_t tables = 0;
  std::uint32_t sets = 1;
  std::uint32_t stride = 0;
  std::uint64_t restore = 0;
  std::uint16_t restores = 0;
  std::uint64_t evict = 0;
  std::uint64_t evictBytes = 0;
  std::uint32_t warmup = 0;
  std::uint32_t calls = 1;  ///< In a sample; 0: the runner chooses by minTicks.
  std::uint32_t minTicks = 0;
  std::uint32_t samples = 1;
  std::uint32_t minSamples = 1;
  double budgetSeconds = 0;  ///< 0: none
  double limitSeconds = 10;
  int harts = 1;
  unsigned counters = 0;
  bool chain = false;
};

struct Sample {
  std::uint32_t index = 0;
  std::uint32_t calls = 1;
  std::uint64_t ticks = 0;
  std::uint64_t chain = 0;
  std::map<int, std::uint64_t> counters;
};

enum class CallEnd : std::uint8_t { complete, budget, aborted };
struct CallDone {
  std::uint32_t samples = 0;
  std::uint32_t calls = 1;
  CallEnd end = CallEnd::complete;
};

struct LinkOptions {
  double helloSeconds = 5;   ///< Reaching the device, HELLO included.
  double answerSeconds = 5;  ///< Any other answer.
  double retrySeconds =
      0.2;  ///< First wait before a command is sent again; doubles up to 16 times it.
  double graceSeconds = 1;    ///< Beyond the limit of a CALL before the device is reset.
  double abortSeconds = 0.5;  ///< For a device that fell silent to answer again by itself.
};

/// Counts of what went wrong on the way and was put right.
struct LinkStatistics {
  std::int64_t framesSent = 0, framesReceived = 0;
  std::int64_t bytesSent = 0, bytesReceived = 0;
  std::int64_t damaged = 0, retries = 0, recoveries = 0;
};

struct Frame;
struct Request;

/// A stretch of device memory, what is written there, and what it is filled with.
struct Range {
  std::uint64_t address = 0, size = 0;
};
struct Piece {
  std::uint64_t address = 0;
  std::span<const std::byte> bytes;
};
struct Filling {
  std::uint64_t address = 0, size = 0;
  std::byte value{};
};

class Device {
 public:
  /// Opens the transport and says HELLO; a device that doesn't answer is reset where that can be
  /// done. Errors: "load.command", "link.start", "link.closed", "link.timeout", "link.version"
  /// (both versions).
  [[nodiscard]] static Result<std::unique_ptr<Device>> open(std::unique_ptr<Transport> transport,
                                                            const LinkOptions& options = {},
                                                            Clock& clock = systemClock());
  ~Device();

  [[nodiscard]] const Hello& hello() const { return hello_; }
  /// Counts restarts of the device. What was in its memory before is lost unless shared.
  [[nodiscard]] int generation() const { return generation_; }

  /// Memory of the declared regions. Shared regions are touched directly, others through the
  /// transport's back door or by frames. Errors: "load.memory" (refused by the device) and
  /// "link.*".
  [[nodiscard]] Status write(std::uint64_t address, std::span<const std::byte> bytes);
  [[nodiscard]] Status read(std::uint64_t address, std::span<std::byte> into);
  [[nodiscard]] Status fill(std::uint64_t address, std::uint64_t size, std::byte value);
  /// CRC-32 as the device sees its memory.
  [[nodiscard]] Result<std::uint32_t> crc(std::uint64_t address, std::uint64_t size);
  /// The same for many at once, which takes much less time than one by one.
  [[nodiscard]] Status write(std::span<const Piece> pieces);
  [[nodiscard]] Status fill(std::span<const Filling> fillings);
  [[nodiscard]] Result<std::vector<std::uint32_t>> crcs(std::span<const Range> ranges);
  /// write() that leaves alone what is there already, by its CRC.
  [[nodiscard]] Status update(std::span<const Piece> pieces);
  /// Which pieces of memory are as given here, by their CRCs where they aren't shared.
  [[nodiscard]] Result<std::vector<bool>> holds(std::span<const Piece> pieces);
  /// The bytes themselves where they are shared; empty elsewhere.
  [[nodiscard]] std::span<std::byte> view(std::uint64_t address, std::uint64_t size);

  /// Whether to go on after a sample.
  enum class More : std::uint8_t { yes, no };
  using OnSample = std::function<More(const Sample&)>;
  /// Runs a CALL. Samples arrive in order, each once, also before a fault. When this returns, the
  /// device takes the next command (it has been brought back if need be), or every later use says
  /// why not. Errors:
  ///   "run.fault"    the kernel did something that the device caught; the message names cause,
  ///                  pc, address, hart and repeat
  ///   "run.timeout"  it didn't return within the limit
  ///   "run.crash"    it took the runner down, damaged its code or its canaries
  ///   "run.refused"  the device refuses the CALL
  ///   "link.*"       the link failed; nothing is said of the kernel
  /// A message says by which step the device was brought back, or that none helped.
  [[nodiscard]] Result<CallDone> call(const Call& call, const OnSample& onSample);

  [[nodiscard]] Status ping();
  /// Restarts the device and says HELLO again: by its own RESET, then by the transport's rescues.
  /// Error "link.dead" tells what each step came to.
  [[nodiscard]] Status recover();
  /// The step that brought the device back last; empty: none was needed.
  [[nodiscard]] const std::string& rescuedBy() const { return rescuedBy_; }

  [[nodiscard]] const LinkStatistics& statistics() const;
  [[nodiscard]] std::string describe() const;

 private:
  struct Link;
  explicit Device(std::unique_ptr<Link> link);
  /// A command or many that must be answered by a frame of kind `expected`.
  [[nodiscard]] Result<Frame> ask(const Request& request, std::uint8_t expected);
  [[nodiscard]] Result<std::vector<Frame>> ask(std::span<const Request> requests,
                                               std::uint8_t expected);
  [[nodiscard]] Status up();
  /// Through the back door: "load.memory" outside the declared regions.
  [[nodiscard]] Status allowed(std::uint64_t address, std::uint64_t size, unsigned flags) const;
  /// What a device that failed needs: to answer again, its runner to start anew, or more than the
  /// runner itself can do.
  enum class Need : std::uint8_t { answer, restart, reset };
  [[nodiscard]] Status bringBack(const Error& why, Need need);
  /// The same, told of in the error.
  [[nodiscard]] Error rescued(Error why, Need need = Need::answer);

  std::unique_ptr<Link> link_;
  Hello hello_;
  int generation_ = 0;
  std::string rescuedBy_;
};

}  // namespace dojo::transport
