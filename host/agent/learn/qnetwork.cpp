// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/learn/qnetwork.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace dojo::agent {
namespace {

/// Deviation of a layer's noise at first, times the root of its inputs.
constexpr double kFirstNoise = 0.5;

float shaped(double x) { return static_cast<float>(std::copysign(std::sqrt(std::abs(x)), x)); }

}  // namespace

NoisyLinear::NoisyLinear(const std::string& name, std::size_t in, std::size_t out,
                         Parameters& parameters, search::Random& random)
    : noise_(in, out), biasNoise_(1, out) {
  const double spread = 1 / std::sqrt(static_cast<double>(in));
  mean_ = &parameters.add(name + ".mean", in, out, spread / std::sqrt(3.0), random);
  deviation_ =
      &parameters.addFilled(name + ".deviation", in, out, static_cast<float>(kFirstNoise * spread));
  biasMean_ = &parameters.addFilled(name + ".bias.mean", 1, out, 0);
  biasDeviation_ = &parameters.addFilled(name + ".bias.deviation", 1, out,
                                         static_cast<float>(kFirstNoise * spread));
}

void NoisyLinear::draw(search::Random& random) {
  std::vector<float> in(noise_.rows());
  for (float& x : in) x = shaped(normal(random));
  for (std::size_t j = 0; j < noise_.cols(); ++j) biasNoise_(0, j) = shaped(normal(random));
  for (std::size_t i = 0; i < noise_.rows(); ++i) {
    for (std::size_t j = 0; j < noise_.cols(); ++j) noise_(i, j) = in[i] * biasNoise_(0, j);
  }
}

void NoisyLinear::silence() {
  noise_.fill(0);
  biasNoise_.fill(0);
}

Var NoisyLinear::apply(Tape& tape, const Var& x) const {
  const Var weight = addScaledBy(tape, tape.parameter(*mean_), tape.parameter(*deviation_), noise_);
  const Var bias =
      addScaledBy(tape, tape.parameter(*biasMean_), tape.parameter(*biasDeviation_), biasNoise_);
  return linear(tape, x, weight, bias);
}

QNetwork::QNetwork(const QOptions& options, std::uint64_t seed)
    : options_(options),
      first_(seed),
      gain_(&parameters_.addFilled("gain", 1, options.width, 1)),
      bias_(&parameters_.addFilled("bias", 1, options.width, 0)),
      value_(makeStream("value", options.width + kTargetFeatures)),
      advantage_(makeStream("advantage", 2 * options.width + kTargetFeatures + 1)) {}

QNetwork::Stream QNetwork::makeStream(const std::string& name, std::size_t in) {
  const double spread = 1 / std::sqrt(static_cast<double>(in));
  Parameter& weight = parameters_.add(name + ".in", in, options_.hidden, spread, first_);
  Parameter& bias = parameters_.addFilled(name + ".in.bias", 1, options_.hidden, 0);
  return {&weight, &bias,
          NoisyLinear(name + ".inner", options_.hidden, options_.hidden, parameters_, first_),
          NoisyLinear(name + ".out", options_.hidden, 1, parameters_, first_)};
}

void QNetwork::draw(search::Random& random) {
  if (!options_.noisy) return;
  for (NoisyLinear* layer : {&value_.inner, &value_.out, &advantage_.inner, &advantage_.out}) {
    layer->draw(random);
  }
}

void QNetwork::silence() {
  for (NoisyLinear* layer : {&value_.inner, &value_.out, &advantage_.inner, &advantage_.out}) {
    layer->silence();
  }
}

Var QNetwork::apply(Tape& tape, const Stream& stream, const Var& x) const {
  const Var first =
      gelu(tape, linear(tape, x, tape.parameter(*stream.weight), tape.parameter(*stream.bias)));
  return stream.out.apply(tape, gelu(tape, stream.inner.apply(tape, first)));
}

Var QNetwork::values(Tape& tape, const std::vector<const Situation*>& situations,
                     const Shelf& shelf) const {
  DOJO_CHECK(shelf.width() == options_.width, "embeddings of another width");
  Groups groups;
  for (const Situation* situation : situations) {
    DOJO_CHECK(!situation->choices.empty(), "a situation without a choice");
    groups.add(situation->choices.size());
  }
  // Each program's embedding normalised once, states first.
  const std::size_t states = situations.size(), choices = groups.rows();
  Matrix embeddings = Matrix::unset(states + choices, options_.width);
  Matrix stateTargets(states, kTargetFeatures), extras(choices, kTargetFeatures + 1);
  std::vector<std::size_t> ownRows, stateRows, choiceRows;
  std::size_t row = 0;
  for (std::size_t s = 0; s < states; ++s) {
    const Situation& situation = *situations[s];
    std::copy_n(shelf.get(situation.program), options_.width, embeddings.row(s));
    std::copy_n(situation.target.data(), kTargetFeatures, stateTargets.row(s));
    ownRows.push_back(s);
    for (const Choice& choice : situation.choices) {
      std::copy_n(shelf.get(choice.program), options_.width, embeddings.row(states + row));
      std::copy_n(situation.target.data(), kTargetFeatures, extras.row(row));
      extras(row, kTargetFeatures) = choice.stop ? 1 : 0;
      stateRows.push_back(s);
      choiceRows.push_back(states + row);
      ++row;
    }
  }
  const Var normal = layerNorm(tape, tape.constant(std::move(embeddings)), tape.parameter(*gain_),
                               tape.parameter(*bias_));
  const Var from = pick(tape, normal, stateRows);
  const Var to = pick(tape, normal, choiceRows);
  const Var change = add(tape, to, scaled(tape, from, -1));
  Var advantage =
      apply(tape, advantage_, joined(tape, {to, change, tape.constant(std::move(extras))}));
  if (!options_.dueling) return advantage;
  const Var value =
      apply(tape, value_,
            joined(tape, {pick(tape, normal, ownRows), tape.constant(std::move(stateTargets))}));
  return duel(tape, value, advantage, groups);
}

Var duel(Tape& tape, const Var& value, const Var& advantage, const Groups& groups) {
  std::vector<std::size_t> owner;
  for (std::size_t g = 0; g < groups.count(); ++g) owner.insert(owner.end(), groups.size(g), g);
  const Var mean = meanOf(tape, advantage, groups);
  const Var base = add(tape, value, scaled(tape, mean, -1));
  return add(tape, pick(tape, base, owner), advantage);
}

}  // namespace dojo::agent
