// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Embeddings by a language model that a server runs: the OpenAI-compatible `/v1/embeddings`, as
/// llama.cpp, vLLM, Ollama and others speak it.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "agent/encoder/embedder.h"
#include "base/result.h"

namespace dojo::agent {

struct RemoteOptions {
  std::string url;    ///< "http://HOST:PORT", with or without "/v1" or "/v1/embeddings".
  std::string model;  ///< As the server calls it; empty: the one that it takes when none is named.
  /// The variable of the environment that holds the server's key; where it's unset none is sent.
  std::string keyVariable = "DOJO_EMBEDDER_KEY";
  /// Where vectors are kept, a file for each server and model; empty: only in memory.
  std::string cacheFolder;
  std::size_t batch = 32;      ///< Texts to a request.
  double connectSeconds = 10;  ///< Until there is a connection.
  double seconds = 60;         ///< A request, its reply included.
  int attempts = 4;            ///< Of a request, where trying again may help.
  double backOff = 0.5;  ///< Seconds before the second attempt; twice as long before each next.
  const std::atomic<bool>* interrupted = nullptr;  ///< Set: give up soon.
};

/// What comes of asking for embeddings, as errors: "embedder.url", "embedder.option",
/// "embedder.gone" (no connection, or it ended), "embedder.slow" (no reply in time),
/// "embedder.http" (the server refused; with its words), "embedder.reply" (not what was asked for),
/// "embedder.width" (vectors of another width than before), "embedder.model" (another model than
/// before), "embedder.cache" (the file of vectors), "embedder.stopped".
///
/// Asks for one embedding where the cache doesn't tell the width. Not for several threads at once.
[[nodiscard]] Result<std::unique_ptr<Embedder>> openRemoteEmbedder(const RemoteOptions& options);

}  // namespace dojo::agent
