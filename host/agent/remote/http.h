// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Asking a server, once. Internal to agent/remote.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"

namespace dojo::agent {

struct HttpLimits {
  double connectSeconds = 10, seconds = 60;
  std::size_t bytes = std::size_t{256} << 20;  ///< Of a reply.
  const std::atomic<bool>* interrupted = nullptr;
};

struct HttpReply {
  long status = 0;
  std::string body;
  double retryAfter = 0;  ///< Seconds that the server wants to be left alone; 0: not said.
};

/// "http://host:8080" to "http://host:8080/v1/embeddings"; a name and password stay in it. Error:
/// "embedder.url".
[[nodiscard]] Result<std::string> endpointOf(const std::string& url);
/// Of an endpoint what may be shown and kept: without name and password.
[[nodiscard]] std::string shownUrl(const std::string& endpoint);

/// A connection that is kept from one question to the next.
class Http {
 public:
  Http(std::string endpoint, const std::string& key);
  ~Http();
  Http(const Http&) = delete;
  Http& operator=(const Http&) = delete;

  /// Posts JSON. Errors: "embedder.gone", "embedder.slow", "embedder.reply" (too long),
  /// "embedder.stopped", "embedder.option" (nothing was asked, and asking again won't help).
  [[nodiscard]] Result<HttpReply> post(const std::string& json, const HttpLimits& limits);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dojo::agent
