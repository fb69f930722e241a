// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The server of embeddings as a process of its own, for tests.
#pragma once

#include <string>
#include <vector>

namespace dojo::test {

class EmbeddingServer {
 public:
  explicit EmbeddingServer(const std::string& mode);
  ~EmbeddingServer();
  EmbeddingServer(const EmbeddingServer&) = delete;
  EmbeddingServer& operator=(const EmbeddingServer&) = delete;

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + port_; }
  /// "TEXTS MODEL KEY" of each request so far.
  [[nodiscard]] std::vector<std::string> requests() const;
  void end();  ///< Kills it.

 private:
  int pid_ = -1;
  std::string port_, log_;
};

}  // namespace dojo::test
