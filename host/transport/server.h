// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Commands around a device: the one that is started before a transport connects, and those that
/// bring it back.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/process.h"
#include "base/result.h"
#include "target/target.h"
#include "transport/stream.h"
#include "transport/transport.h"

namespace dojo::transport {

/// What a target says of how its device is started and brought back.
struct Setup {
  /// Started before the transport connects: an emulator, a debug server, or a loader that ends.
  /// {runner}, {dir}, {bin} (the folder of this program) and {port} (a free port of the loopback
  /// interface, the same in the address) are replaced; empty: there is none.
  std::string command = {};
  std::string runnerPath = {};
  target::Remedy reset = {}, powerCycle = {};
  double seconds = 5;  ///< Time limit of connecting.
};

/// A private folder, made when first asked for and removed at the end.
class PrivateFolder {
 public:
  PrivateFolder() = default;
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder();
  /// Error "link.start".
  [[nodiscard]] Result<std::string> path();

 private:
  std::string path_;
};

class Server {
 public:
  explicit Server(Setup setup) : setup_(std::move(setup)) {}

  /// Starts the command anew, where there is one. Error "link.start".
  [[nodiscard]] Status start();
  void stop() { process_.reset(); }
  /// "load.command" where the command ended in failure; its output is taken meanwhile.
  [[nodiscard]] Status check();
  /// Stream::receive, which meanwhile takes what the command prints: a full pipe would hold it up.
  [[nodiscard]] Result<std::size_t> receive(Stream& stream, std::span<std::byte> into,
                                            double seconds, const std::string& what);
  /// Lays a lost link ("link.closed") to the command's end where it has ended: "load.command" if
  /// the device was never heard, else "link.ended". Everything else stays as it is.
  [[nodiscard]] Status explain(Status status, bool heard);
  /// The first words "/dev/..." of what the command printed, empty while there is none.
  [[nodiscard]] std::string printedDevice();

  /// With what stands in braces replaced. Error "link.start".
  [[nodiscard]] Result<std::string> expand(std::string text);
  [[nodiscard]] Result<std::vector<std::string>> expandWords(const std::string& command);
  /// The command's first word is given the image, so that it is loaded already.
  [[nodiscard]] bool loads() const;
  /// Runs a remedy to its end, within its time limit; errors have this code.
  [[nodiscard]] Status run(const target::Remedy& remedy, const std::string& code);
  /// The rescues of the target file around those of the transport.
  [[nodiscard]] std::vector<Rescue> rescues(Rescue transportsOwn, Transport& transport);

  [[nodiscard]] const Setup& setup() const { return setup_; }

 private:
  void drain();

  Setup setup_;
  PrivateFolder folder_;
  std::string port_;
  std::optional<Process> process_;
  std::string output_;  ///< The last of what it printed.
};

}  // namespace dojo::transport
