// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/nn/tape.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "agent/nn/kernels.h"
#include "base/check.h"

namespace dojo::agent {

double normal(search::Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.real()));
  return radius * std::cos(2 * std::numbers::pi * random.real());
}

Parameter& Parameters::add(std::string name, std::size_t rows, std::size_t cols, double deviation,
                           search::Random& random) {
  Parameter& made = addFilled(std::move(name), rows, cols, 0);
  if (deviation == 0) return made;
  for (std::size_t i = 0; i < made.value.size(); ++i) {
    made.value.data()[i] = static_cast<float>(deviation * normal(random));
  }
  return made;
}

Parameter& Parameters::addFilled(std::string name, std::size_t rows, std::size_t cols,
                                 float value) {
  DOJO_CHECK(find(name) == nullptr, "two parameters named " + name);
  all_.push_back({std::move(name), Matrix(rows, cols, value), Matrix(rows, cols)});
  return all_.back();
}

Parameter* Parameters::find(std::string_view name) {
  for (Parameter& one : all_) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

std::size_t Parameters::count() const {
  std::size_t sum = 0;
  for (const Parameter& one : all_) sum += one.value.size();
  return sum;
}

void Parameters::clearGradients() {
  for (Parameter& one : all_) one.grad.fill(0);
}

double Parameters::gradientNorm() const {
  double sum = 0;
  for (const Parameter& one : all_) {
    for (std::size_t i = 0; i < one.grad.size(); ++i) {
      sum += static_cast<double>(one.grad.data()[i]) * one.grad.data()[i];
    }
  }
  return std::sqrt(sum);
}

void Parameters::scaleGradients(float factor) {
  for (Parameter& one : all_) {
    for (std::size_t i = 0; i < one.grad.size(); ++i) one.grad.data()[i] *= factor;
  }
}

bool Parameters::finite() const {
  return std::all_of(all_.begin(), all_.end(), [](const Parameter& one) {
    const float* data = one.value.data();
    return std::all_of(data, data + one.value.size(), [](float x) { return std::isfinite(x); });
  });
}

void Parameters::copyFrom(const Parameters& other) {
  DOJO_CHECK(all_.size() == other.all_.size(), "copying parameters of another network");
  for (std::size_t k = 0; k < all_.size(); ++k) {
    DOJO_CHECK(all_[k].value.sameShape(other.all_[k].value), "copying from " + other.all_[k].name);
    all_[k].value = other.all_[k].value;
  }
}

void Parameters::moveTowards(const Parameters& other, float rate) {
  DOJO_CHECK(all_.size() == other.all_.size(), "moving towards another network");
  for (std::size_t k = 0; k < all_.size(); ++k) {
    Matrix& own = all_[k].value;
    DOJO_CHECK(own.sameShape(other.all_[k].value), "moving towards " + other.all_[k].name);
    agent::moveTowards(own.data(), other.all_[k].value.data(), rate, own.size());
  }
}

Matrix& Var::grad() const {
  if (slot_->parameter != nullptr) return slot_->parameter->grad;
  if (!slot_->grad.sameShape(slot_->value)) {
    slot_->grad = Matrix(slot_->value.rows(), slot_->value.cols());
  }
  return slot_->grad;
}

Var Tape::constant(Matrix value) const {
  auto slot = std::make_shared<Var::Slot>();
  slot->value = std::move(value);
  return Var(std::move(slot));
}

Var Tape::parameter(Parameter& parameter) const {
  auto slot = std::make_shared<Var::Slot>();
  slot->parameter = &parameter;
  slot->trained = recording_;
  return Var(std::move(slot));
}

Var Tape::result(Matrix value, const std::vector<Var>& inputs,
                 std::function<void(const Var& out)> backward) {
  Var out = constant(std::move(value));
  if (!recording_) return out;
  out.slot_->trained =
      std::any_of(inputs.begin(), inputs.end(), [](const Var& v) { return v.trained(); });
  if (out.trained()) entries_.push_back({out, std::move(backward)});
  return out;
}

void Tape::backward(const Var& loss) {
  DOJO_CHECK(loss.value().size() == 1, "the gradient of more than one number");
  loss.grad()(0, 0) = 1;
  for (std::size_t k = entries_.size(); k > 0; --k) {
    Entry& entry = entries_[k - 1];
    entry.backward(entry.out);
  }
  entries_.clear();
}

}  // namespace dojo::agent
