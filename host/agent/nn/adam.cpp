// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/nn/adam.h"

#include <cmath>

#include "agent/nn/kernels.h"
#include "base/check.h"

namespace dojo::agent {

Adam::Adam(Parameters& parameters, AdamOptions options)
    : parameters_(parameters), options_(options) {
  for (const Parameter& one : parameters.all()) {
    const Matrix zeros(one.value.rows(), one.value.cols());
    moments_.push_back({zeros, zeros});
  }
}

Status Adam::step(double factor) {
  DOJO_CHECK(moments_.size() == parameters_.all().size(), "parameters were added after Adam");
  lastNorm_ = parameters_.gradientNorm();
  if (!std::isfinite(lastNorm_)) {
    parameters_.clearGradients();
    return Error{"agent.nan",
                 "a gradient isn't a finite number after " + std::to_string(steps_) + " steps", "",
                 ""};
  }
  if (options_.clip > 0 && lastNorm_ > options_.clip) {
    parameters_.scaleGradients(static_cast<float>(options_.clip / lastNorm_));
  }
  ++steps_;
  const auto t = static_cast<double>(steps_);
  const double root = std::sqrt(1 - std::pow(options_.beta2, t));
  const double rate = options_.rate * factor;
  AdamFactors f{};
  f.beta1 = static_cast<float>(options_.beta1);
  f.beta2 = static_cast<float>(options_.beta2);
  f.step = static_cast<float>(rate * root / (1 - std::pow(options_.beta1, t)));
  f.epsilon = static_cast<float>(options_.epsilon * root);
  std::size_t k = 0;
  for (Parameter& one : parameters_.all()) {
    f.decay = one.value.rows() > 1 ? static_cast<float>(rate * options_.decay) : 0.0F;
    Moments& moments = moments_[k++];
    adamStep(one.value.data(), moments.mean.data(), moments.square.data(), one.grad.data(),
             one.value.size(), f);
  }
  parameters_.clearGradients();
  return {};
}

void Adam::restore(std::vector<Moments> moments, std::int64_t steps) {
  DOJO_CHECK(moments.size() == moments_.size(), "moments of another network");
  for (std::size_t k = 0; k < moments.size(); ++k) {
    DOJO_CHECK(moments[k].mean.sameShape(moments_[k].mean) &&
                   moments[k].square.sameShape(moments_[k].square),
               "moments of another network");
  }
  moments_ = std::move(moments);
  steps_ = steps;
}

}  // namespace dojo::agent
