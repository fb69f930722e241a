// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// How good it is to go from one program to another: Q(state, successor).
#pragma once

#include <vector>

#include "agent/learn/reward.h"
#include "agent/learn/shelf.h"
#include "agent/nn/ops.h"

namespace dojo::agent {

/// Something to do in a state: to go on to a program, or to stop where one is.
struct Choice {
  ProgramKey program = 0;  ///< Of a stop, the state's own.
  bool stop = false;
  bool operator==(const Choice&) const = default;
};

/// A state with what was there to do, of a target.
struct Situation {
  ProgramKey program = 0;
  TargetFeatures target = {};
  std::vector<Choice> choices;
  bool operator==(const Situation&) const = default;
};

/// A layer whose weights carry noise that the network learns to use or to lose (arXiv 1706.10295):
/// weight = mean + deviation * f(a) f(b), f(x) = sign(x) sqrt(|x|), a and b normal.
class NoisyLinear {
 public:
  NoisyLinear(const std::string& name, std::size_t in, std::size_t out, Parameters& parameters,
              search::Random& random);

  void draw(search::Random& random);
  void silence();  ///< No noise until draw().
  [[nodiscard]] Var apply(Tape& tape, const Var& x) const;
  [[nodiscard]] const Matrix& noise() const { return noise_; }
  [[nodiscard]] const Matrix& biasNoise() const { return biasNoise_; }

 private:
  Parameter *mean_, *deviation_, *biasMean_, *biasDeviation_;
  Matrix noise_, biasNoise_;
};

struct QOptions {
  std::size_t width = 128;  ///< Of embeddings.
  std::size_t hidden = 128;
  /// Value and advantage apart (arXiv 1511.06581): Q = V + A - mean of A over the choices; else Q
  /// is what would be A.
  bool dueling = true;
  bool noisy = true;
};

class QNetwork {
 public:
  QNetwork(const QOptions& options, std::uint64_t seed);

  [[nodiscard]] Parameters& parameters() { return parameters_; }
  [[nodiscard]] const Parameters& parameters() const { return parameters_; }
  /// Draws the noise of all layers, where the network is noisy.
  void draw(search::Random& random);
  void silence();

  /// A row for each choice of each situation, in order.
  [[nodiscard]] Var values(Tape& tape, const std::vector<const Situation*>& situations,
                           const Shelf& shelf) const;

 private:
  QOptions options_;
  search::Random first_;  ///< Draws the first weights.
  Parameters parameters_;
  Parameter *gain_, *bias_;
  struct Stream {
    Parameter *weight, *bias;
    NoisyLinear inner, out;
  };
  Stream makeStream(const std::string& name, std::size_t in);
  [[nodiscard]] Var apply(Tape& tape, const Stream& stream, const Var& x) const;
  Stream value_, advantage_;
};

/// Q = V + A - mean of A, of groups of choices: `value` has a row for each group.
[[nodiscard]] Var duel(Tape& tape, const Var& value, const Var& advantage, const Groups& groups);

}  // namespace dojo::agent
