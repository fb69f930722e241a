// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The language model of loop-tree programs, a transformer in two parts. The first reads the tokens
/// of one line; its results are the same wherever the line stands, so that of a successor state
/// only the lines that its move changed are read. The second reads the lines of a program, told by
/// biases of its attention how they are related.
#pragma once

#include <vector>

#include "agent/encoder/layout.h"
#include "agent/nn/ops.h"
#include "agent/text/tokenizer.h"

namespace dojo::agent {

struct EncoderConfig {
  std::size_t width = 128;
  std::size_t heads = 4;
  std::size_t lineLayers = 2;
  std::size_t programLayers = 2;
  std::size_t hidden = 256;  ///< Of the part of a layer between attentions.
  bool operator==(const EncoderConfig&) const = default;
};

/// One layer of a transformer, normalised before each part.
struct EncoderLayer {
  EncoderLayer(const std::string& name, const EncoderConfig& config, Parameters& parameters,
               search::Random& random, bool related);
  [[nodiscard]] Var apply(Tape& tape, Var x, const Groups& groups, std::size_t heads,
                          const Relations* relations) const;

  Parameter *gain1, *bias1, *qkv, *qkvBias, *out, *outBias;
  Parameter *gain2, *bias2, *up, *upBias, *down, *downBias;
  Parameter* relation = nullptr;  ///< Relations x heads.
};

class Encoder {
 public:
  /// With random weights.
  Encoder(const EncoderConfig& config, search::Random& random);

  [[nodiscard]] const EncoderConfig& config() const { return config_; }
  [[nodiscard]] Parameters& parameters() { return parameters_; }
  [[nodiscard]] const Parameters& parameters() const { return parameters_; }

  struct Lines {
    Var tokens;     ///< A row for each token of each line.
    Groups groups;  ///< The tokens of each line, cut to kMostTokens.
    Var lines;      ///< A row for each line.
  };
  /// None of them without tokens.
  [[nodiscard]] Lines lines(Tape& tape, const std::vector<const std::vector<Token>*>& lines) const;

  struct Programs {
    Var rows;       ///< Of each program: itself, then its lines in context.
    Groups groups;  ///< The rows of each program.
    Var programs;   ///< The embeddings: a row for each program.
  };
  /// `lineRows`: of each program the rows of `lines` that hold its lines.
  [[nodiscard]] Programs programs(Tape& tape, const Var& lines,
                                  const std::vector<const Layout*>& layouts,
                                  const std::vector<std::vector<std::size_t>>& lineRows) const;

 private:
  EncoderConfig config_;
  Parameters parameters_;
  Parameter *tokens_, *positions_, *features_, *featureBias_, *lineGain_, *lineBias_;
  Parameter *program_, *order_, *depths_, *kinds_, *gain_, *bias_, *pool_, *poolBias_;
  std::vector<EncoderLayer> lineLayers_, programLayers_;
};

}  // namespace dojo::agent
