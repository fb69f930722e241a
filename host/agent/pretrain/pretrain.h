// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Training the encoder on programs alone, without any device: to fill in tokens that were hidden,
/// to tell the facts that the tree holds, and to know a program that moves led away from and back.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "agent/encoder/encoder.h"
#include "agent/nn/adam.h"
#include "agent/pretrain/corpus.h"
#include "base/result.h"

namespace dojo::agent {

struct PretrainOptions {
  std::int64_t steps = 20000;
  std::uint64_t seed = 1;
  std::size_t chains = 6;  ///< Of each batch.
  std::size_t length = 3;  ///< States of each chain.
  double hidden = 0.15;    ///< The share of tokens to fill in.
  AdamOptions adam = {.rate = 1e-3, .decay = 0.01, .clip = 1};
  std::int64_t warmup = 200;  ///< Steps until the full rate; it then falls to a tenth.
  /// Weights of the losses.
  float fill = 1, lineFacts = 4, programFacts = 4, contrast = 0.5F;
};

/// The losses of a step, or their means over some.
struct PretrainLosses {
  double fill = 0, lineFacts = 0, programFacts = 0, contrast = 0;
  double filled = 0;  ///< The share of hidden tokens that were told right.
  double known = 0;   ///< The share of programs that were known again.
};

class Pretraining {
 public:
  /// With random weights. `corpus` outlives this.
  Pretraining(const EncoderConfig& config, const PretrainOptions& options, const Corpus& corpus);

  /// The next step; what is drawn for it follows from the seed and its number. Error "agent.nan":
  /// the weights are those before it.
  [[nodiscard]] Result<PretrainLosses> step();
  [[nodiscard]] std::int64_t steps() const { return adam_.steps(); }
  [[nodiscard]] const Encoder& encoder() const { return encoder_; }

  /// All that going on takes. Errors of load: those of Archive, "agent.shape".
  [[nodiscard]] Status save(const std::string& path) const;
  [[nodiscard]] Status load(const std::string& path);

 private:
  struct Batch;
  [[nodiscard]] Batch draw(search::Random& random) const;
  [[nodiscard]] double rateAt(std::int64_t step) const;

  PretrainOptions options_;
  const Corpus& corpus_;
  search::Random random_;  ///< Of the first weights.
  Encoder encoder_;
  Parameters heads_;
  struct Head {
    Parameter *up, *upBias, *down, *downBias;
  };
  Head addHead(const std::string& name, std::size_t in, std::size_t hidden, std::size_t out);
  [[nodiscard]] Var apply(Tape& tape, const Head& head, const Var& x) const;
  Head fill_, lineFacts_, programFacts_;
  Adam adam_, headsAdam_;
};

}  // namespace dojo::agent
