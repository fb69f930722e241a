// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Computations that can be run backwards. An operation (ops.h) computes its result at once and
/// leaves with the tape what its gradient takes; backward() plays that in reverse. A tape that
/// doesn't record computes the same and keeps nothing.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/nn/matrix.h"
#include "search/random.h"

namespace dojo::agent {

/// What training changes.
struct Parameter {
  std::string name;
  Matrix value;
  Matrix grad;
};

/// The parameters of a network, by name and in the order of their making. Addresses stay.
class Parameters {
 public:
  Parameters() = default;
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  /// Filled with normal numbers of this deviation; 0: zeros.
  Parameter& add(std::string name, std::size_t rows, std::size_t cols, double deviation,
                 search::Random& random);
  Parameter& addFilled(std::string name, std::size_t rows, std::size_t cols, float value);
  [[nodiscard]] std::deque<Parameter>& all() { return all_; }
  [[nodiscard]] const std::deque<Parameter>& all() const { return all_; }
  [[nodiscard]] Parameter* find(std::string_view name);
  [[nodiscard]] std::size_t count() const;  ///< Numbers in all of them.
  void clearGradients();
  /// The Euclidean length of all gradients together; NaN or infinite where one of them is.
  [[nodiscard]] double gradientNorm() const;
  void scaleGradients(float factor);
  [[nodiscard]] bool finite() const;  ///< No value is NaN or infinite.
  /// Values become those of `other`, which has the same parameters, or a part of the way to them.
  void copyFrom(const Parameters& other);
  void moveTowards(const Parameters& other, float rate);

 private:
  std::deque<Parameter> all_;
};

/// A standard normal number.
[[nodiscard]] double normal(search::Random& random);

/// A value on a tape. Copies are the same value.
class Var {
 public:
  [[nodiscard]] const Matrix& value() const {
    return slot_->parameter ? slot_->parameter->value : slot_->value;
  }
  [[nodiscard]] std::size_t rows() const { return value().rows(); }
  [[nodiscard]] std::size_t cols() const { return value().cols(); }
  /// True where gradients are to reach it.
  [[nodiscard]] bool trained() const { return slot_->trained; }
  /// Zeros of its shape when first asked.
  [[nodiscard]] Matrix& grad() const;

 private:
  friend class Tape;
  struct Slot {
    Matrix value, grad;
    Parameter* parameter = nullptr;
    bool trained = false;
  };
  explicit Var(std::shared_ptr<Slot> slot) : slot_(std::move(slot)) {}
  std::shared_ptr<Slot> slot_;
};

class Tape {
 public:
  explicit Tape(bool recording) : recording_(recording) {}
  [[nodiscard]] bool recording() const { return recording_; }

  /// An input, or a result without a gradient.
  [[nodiscard]] Var constant(Matrix value) const;
  [[nodiscard]] Var parameter(Parameter& parameter) const;
  /// The result of an operation on `inputs`; `backward` gets it and adds to the gradients of those
  /// inputs that are trained.
  [[nodiscard]] Var result(Matrix value, const std::vector<Var>& inputs,
                           std::function<void(const Var& out)> backward);
  /// Adds d(loss)/d(parameter) to the gradient of every parameter that `loss` (1 x 1) came from.
  /// Once a tape.
  void backward(const Var& loss);

 private:
  struct Entry {
    Var out;
    std::function<void(const Var&)> backward;
  };
  bool recording_;
  std::vector<Entry> entries_;
};

}  // namespace dojo::agent
