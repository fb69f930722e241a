// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Programs to vectors: by our own encoder, or by anything else that reads text.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agent/encoder/encoder.h"
#include "base/result.h"

namespace dojo::agent {

class Embedder {
 public:
  virtual ~Embedder() = default;
  [[nodiscard]] virtual std::size_t width() const = 0;
  /// Tells embedders apart whose vectors mean different things.
  [[nodiscard]] virtual std::string identity() const = 0;
  /// A row for each text; equal texts have equal rows. Asked for all successors of a state at once.
  [[nodiscard]] virtual Result<Matrix> embed(const std::vector<std::string>& texts) = 0;
};

/// Keeps what it was asked for: of programs their vectors, of lines what the first part of the
/// encoder made of them.
class OwnEmbedder final : public Embedder {
 public:
  /// `encoder` outlives this and isn't trained meanwhile.
  explicit OwnEmbedder(const Encoder& encoder) : encoder_(encoder) {}
  explicit OwnEmbedder(std::unique_ptr<const Encoder> encoder)
      : kept_(std::move(encoder)), encoder_(*kept_) {}

  [[nodiscard]] std::size_t width() const override { return encoder_.config().width; }
  [[nodiscard]] std::string identity() const override;
  [[nodiscard]] Result<Matrix> embed(const std::vector<std::string>& texts) override;

  struct Counts {
    std::int64_t asked = 0, programs = 0;  ///< Programs asked for, and computed.
    std::int64_t lines = 0;                ///< Lines computed.
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  /// Positions of the lines' rows in `lineRows_`.
  std::vector<std::size_t> known(const std::vector<const std::vector<Token>*>& lines);
  void compute(const std::vector<std::string>& texts, const std::vector<TokenText>& tokens);

  std::unique_ptr<const Encoder> kept_;
  const Encoder& encoder_;
  std::unordered_map<std::string, std::size_t> lines_;
  std::vector<float> lineRows_;
  std::unordered_map<std::string, std::vector<float>> programs_;
  Counts counts_;
};

}  // namespace dojo::agent
