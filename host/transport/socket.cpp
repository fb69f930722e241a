// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transport/socket.h"

#include "transport/stream.h"

namespace dojo::transport {
namespace {

class Socket : public Transport {
 public:
  explicit Socket(SocketOptions options)
      : options_(std::move(options)), server_(std::move(options_.setup)) {}

  Status open() override {
    stream_.close();
    if (Status started = server_.start(); !started) return started;
    return connect();
  }

  Status send(std::span<const std::byte> bytes, double seconds) override {
    return server_.explain(stream_.send(bytes, seconds, describe()), heard_);
  }

  Result<std::size_t> receive(std::span<std::byte> into, double seconds) override {
    auto got = stream_.receive(into, seconds, describe());
    if (!got) return server_.explain(got.error(), heard_).error();
    heard_ = heard_ || *got > 0;
    if (*got == 0 && !heard_) {
      if (Status up = server_.check(); !up) return up.error();
    }
    return got;
  }

  Status recover() override { return open(); }

  std::vector<Rescue> rescues() override {
    std::vector<Rescue> out = server_.rescues({}, *this);
    // Whatever resets the device may close the link.
    for (Rescue& rescue : out) {
      rescue.apply = [this, apply = std::move(rescue.apply)] {
        if (Status applied = apply(); !applied || stream_) return applied;
        return connect();
      };
    }
    return out;
  }

  std::string describe() const override { return options_.address; }

 private:
  Status connect() {
    heard_ = false;
    auto address = server_.expand(options_.address);
    if (!address) return address.error();
    auto stream = connectTo(*address, server_.setup().seconds, [this] { return server_.check(); });
    if (!stream) return stream.error();
    stream_ = std::move(*stream);
    return {};
  }

  SocketOptions options_;
  Server server_;
  Stream stream_;
  bool heard_ = false;
};

}  // namespace

std::unique_ptr<Transport> makeSocket(SocketOptions options) {
  return std::make_unique<Socket>(std::move(options));
}

}  // namespace dojo::transport
